#include "runtime/scale/slices/slice_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/error.h"
#include "runtime/scale/slices/slice_pipeline.h"
#include "runtime/support/text_table.h"

namespace segfold {

bool is_copied(const Operator& op, const StreamInput& input, std::size_t i)
{
    return !op.parameters[i].table && input.parameters[i]->on_device(0) == nullptr;
}

SliceBytes bytes_of_slices(const Operator& op, const StreamInput& input, bool has_engine,
                           std::optional<std::int64_t> num_elements)
{
    const auto& segments = input.segments;
    constexpr double kBorderBytes = 16;  // bytes of a segment's end, and of an offset for the back end
    constexpr double kMargin = 1.25;
    const auto rooms = static_cast<double>(has_engine ? SlicePipeline::kRooms : kHostRooms);
    SliceBytes bytes;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        if (is_copied(op, input, i))
            bytes.copied += static_cast<double>(size_bytes(op.parameters[i].type));
    bytes.element = rooms * bytes.copied;
    if (segments.kind == LayoutKind::flags || segments.kind == LayoutKind::keys)
        bytes.element += 2 * static_cast<double>(size_bytes(segments.array->type()));
    for (const auto& output : op.outputs)  // outputs are computed for each slice and passed to the caller
        bytes.element += rooms * static_cast<double>(size_bytes(output.type));
    double results = 0;
    for (const auto& field : op.results)
        results += static_cast<double>(size_bytes(field.type));
    bytes.segment = rooms * kBorderBytes + (has_engine ? rooms + 1 : 2) * results;
    bytes.segments = segments.kind == LayoutKind::whole ? 0
                     : segments.kind == LayoutKind::uniform
                         ? 1.0 / static_cast<double>(segments.uniform_length)
                         : 1;
    if (segments.kind == LayoutKind::whole || segments.kind == LayoutKind::uniform)
        return bytes;
    // With flags or keys each element may begin a segment. With offsets or lengths a slice ends early if
    // there is no room for another segment.
    bytes.index = sizeof(std::int64_t);
    const auto entries = segments.array->length();
    if (has_engine && (segments.kind == LayoutKind::offsets || segments.kind == LayoutKind::lengths) &&
        entries && num_elements && *num_elements > 0)
        bytes.segments = kMargin * static_cast<double>(*entries) / static_cast<double>(*num_elements);
    return bytes;
}

void throw_no_room(std::int64_t memory_bytes, double share, double bytes, std::int64_t least)
{
    const auto text = [](double n) { return count_text(static_cast<std::int64_t>(std::ceil(n)), "byte"); };
    throw InputError(fmt::format(
        "a bound of {} leaves no room for a slice: an element takes {}, and a slice has at least {}; give {} "
        "or more",
        count_text(memory_bytes, "byte"), text(bytes), count_text(least, "element"),
        text(bytes * static_cast<double>(least) / share)));
}

std::int64_t segments_of_slice(const SliceBytes& sizes, std::int64_t num_elements, double usable,
                               bool has_engine, std::optional<std::int64_t> num_segments)
{
    // Add room for more segments than a slice has on average.
    constexpr double kSpareShare = 1.0 / 64;
    constexpr double kFewSpare = 1024, kMostSpare = 65536;
    const auto elements = static_cast<double>(num_elements);
    auto count = sizes.segments * elements;
    if (sizes.segments < 1)
        count += std::clamp(kSpareShare * usable / sizes.segment, kFewSpare, kMostSpare);
    else if (!has_engine && num_segments)  // a small input leaves memory for more segments
        count = (usable - sizes.element * elements) / sizes.segment;
    if (num_segments)
        count = std::min(count, static_cast<double>(*num_segments));
    return static_cast<std::int64_t>(std::max(count, 1.0));
}

}  // namespace segfold
