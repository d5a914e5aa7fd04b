#include "runtime/session/choice/traffic.h"

#include <algorithm>

namespace segfold {

std::int64_t layout_bytes(SegmentForm form, std::int64_t num_elements, std::int64_t num_segments,
                          int index_bits, std::int64_t key_bytes)
{
    const std::int64_t index_bytes = index_bits / 8;
    switch (form) {
        case SegmentForm::offsets: return (num_segments + 1) * index_bytes;
        case SegmentForm::ranges: return (2 * num_segments + 1) * index_bytes;
        case SegmentForm::keys:  // reads the key of each element, writes the key of each run
            return (num_elements + num_segments) * key_bytes;
        case SegmentForm::groups: return num_elements * key_bytes;
        case SegmentForm::flags: return num_elements;
        default: return 0;
    }
}

Traffic compulsory_traffic(const Operator& op, const Segments& segments, std::int64_t num_features,
                           std::optional<SegmentForm> read_as)
{
    constexpr std::int64_t kKeyBytes = 4;
    const std::int64_t elements = std::min(segments.num_elements, num_items(segments));
    Traffic traffic;
    for (const auto& parameter : op.parameters)
        if (!parameter.table &&
            (uses_name(op.lift, parameter.name) || (op.map && uses_name(*op.map, parameter.name)) ||
             (op.scan && uses_name(op.scan->block, parameter.name))))
            traffic.columns += elements * static_cast<std::int64_t>(size_bytes(parameter.type)) *
                               (parameter.row ? num_features : 1);
    traffic.layout = layout_bytes(
        read_as.value_or(segments.form), segments.num_elements, segments.num_segments, segments.index_bits(),
        static_cast<std::int64_t>(segments.form == SegmentForm::keys ? size_bytes(segments.item_keys.type())
                                  : segments.form == SegmentForm::groups ? size_bytes(segments.numbers.type())
                                                                         : 0));
    if (op.keeps_results)
        for (const auto& field : op.results)
            traffic.results +=
                segments.num_segments * static_cast<std::int64_t>(size_bytes(field.type)) * num_features;
    for (const auto& field : op.outputs)
        traffic.results += elements * static_cast<std::int64_t>(size_bytes(field.type)) * num_features;
    traffic.keys = (elements + segments.num_segments) * kKeyBytes;
    return traffic;
}

}  // namespace segfold
