#include "runtime/session/choice/traffic.h"

#include <algorithm>

namespace segfold {

Traffic compulsory_traffic(const Operator& op, const Segments& segments, std::int64_t num_features)
{
    constexpr std::int64_t kKeyBytes = 4;
    const std::int64_t elements = std::min(segments.num_elements, num_items(segments));
    const std::int64_t index_bytes = segments.index_bits() / 8;
    Traffic traffic;
    for (const auto& parameter : op.parameters)
        if (!parameter.table &&
            (uses_name(op.lift, parameter.name) || (op.map && uses_name(*op.map, parameter.name))))
            traffic.columns += elements * static_cast<std::int64_t>(size_bytes(parameter.type)) *
                               (parameter.row ? num_features : 1);
    if (segments.form == SegmentForm::offsets)
        traffic.layout = (segments.num_segments + 1) * index_bytes;
    if (segments.form == SegmentForm::ranges)
        traffic.layout = (2 * segments.num_segments + 1) * index_bytes;
    // Keys are read, and the key of each run is written; flags are only read.
    if (segments.form == SegmentForm::keys)
        traffic.layout = (segments.num_elements + segments.num_segments) *
                         static_cast<std::int64_t>(size_bytes(segments.item_keys.type()));
    if (segments.form == SegmentForm::flags)
        traffic.layout = segments.num_elements;
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
