// What is asked of segments: where each begins and ends, the lengths, a copy.
#include <algorithm>
#include <limits>
#include <mutex>
#include <span>

#include "dsl/error.h"
#include "runtime/data/index_at.h"
#include "runtime/data/segments.h"
#include "runtime/support/processes/parallel.h"

namespace segfold {
namespace {

constexpr std::int64_t kSlicesOfPart = std::int64_t{1} << 13;  // slices one thread looks at, at a time

/// The range of both; each has segments.
LengthRange both(const LengthRange& a, const LengthRange& b)
{
    return {std::min(a.shortest, b.shortest), std::max(a.longest, b.longest), a.padded + b.padded};
}

/// The lengths between `count + 1` offsets, at most a slice. One loop for each width, so that compilers
/// vectorize it.
template <class Index>
LengthRange range_of_slice(const Index* offsets, std::int64_t count)
{
    Index shortest = std::numeric_limits<Index>::max(), longest = 0;
    for (std::int64_t s = 0; s < count; ++s) {
        const Index length = offsets[s + 1] - offsets[s];
        shortest = std::min(shortest, length);
        longest = std::max(longest, length);
    }
    return {shortest, longest, count * longest};
}

/// The lengths between the offsets from `begin`, the first of a slice, to `end`.
template <class Index>
LengthRange range_between(std::span<const Index> offsets, std::int64_t begin, std::int64_t end)
{
    LengthRange range{std::numeric_limits<std::int64_t>::max()};
    const Index* at = offsets.data() + begin;
    for (; begin + kSliceSegments <= end; begin += kSliceSegments, at += kSliceSegments)
        range = both(range, range_of_slice(at, kSliceSegments));
    return begin == end ? range : both(range, range_of_slice(at, end - begin));
}

LengthRange range_between(const Segments& segments, std::int64_t begin, std::int64_t end)
{
    if (segments.form != SegmentForm::ranges)
        return segments.offsets.type() == Type::i32
                   ? range_between(segments.offsets.as<std::int32_t>(), begin, end)
                   : range_between(segments.offsets.as<std::int64_t>(), begin, end);
    LengthRange range{std::numeric_limits<std::int64_t>::max()};
    for (; begin < end; begin += kSliceSegments) {
        const auto count = std::min(kSliceSegments, end - begin);
        LengthRange slice{segments.length(begin), 0, 0};
        for (std::int64_t s = begin; s < begin + count; ++s)
            slice = {std::min(slice.shortest, segments.length(s)),
                     std::max(slice.longest, segments.length(s))};
        slice.padded = count * slice.longest;
        range = both(range, slice);
    }
    return range;
}

}  // namespace

std::int64_t Segments::begin(std::int64_t segment) const
{
    switch (form) {
        case SegmentForm::whole:
            return 0;
        case SegmentForm::uniform:
            return segment * uniform_length;
        case SegmentForm::offsets:
        case SegmentForm::flags:
        case SegmentForm::keys:
            return index_at(offsets, segment);
        case SegmentForm::ranges:
            return index_at(begins, segment);
    }
    throw InternalError("unknown segment form");
}

std::int64_t Segments::end(std::int64_t segment) const
{
    switch (form) {
        case SegmentForm::whole:
            return num_elements;
        case SegmentForm::uniform:
            return (segment + 1) * uniform_length;
        case SegmentForm::offsets:
        case SegmentForm::flags:
        case SegmentForm::keys:
            return index_at(offsets, segment + 1);
        case SegmentForm::ranges:
            return index_at(ends, segment);
    }
    throw InternalError("unknown segment form");
}

LengthRange length_range(const Segments& segments)
{
    if (segments.num_segments == 0)
        return {};
    if (segments.form == SegmentForm::whole || segments.form == SegmentForm::uniform)
        return {segments.length(0), segments.length(0), segments.num_segments * segments.length(0)};
    LengthRange all{std::numeric_limits<std::int64_t>::max()};
    std::mutex mutex;
    const auto num_slices = (segments.num_segments + kSliceSegments - 1) / kSliceSegments;
    parallel_for(num_slices, kSlicesOfPart, [&](std::int64_t begin, std::int64_t end) {
        const auto range = range_between(segments, begin * kSliceSegments,
                                         std::min(end * kSliceSegments, segments.num_segments));
        const std::lock_guard lock(mutex);
        all = both(all, range);
    });
    return all;
}

Segments Segments::copy() const
{
    Segments other;
    other.form = form;
    other.num_elements = num_elements;
    other.num_segments = num_segments;
    other.uniform_length = uniform_length;
    other.offsets = offsets.copy();
    other.begins = begins.copy();
    other.ends = ends.copy();
    other.flags = flags.copy();
    other.item_keys = item_keys.copy();
    if (keys)
        other.keys = keys->copy();
    other.has_wide_indices = has_wide_indices;
    return other;
}

std::int64_t num_items(const Segments& segments)
{
    if (segments.form != SegmentForm::ranges)
        return segments.num_elements;
    std::int64_t items = 0;
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        items += segments.length(s);
    return items;
}

}  // namespace segfold
