// Begins, ends and lengths of segments, and copies of segments.
#include <algorithm>
#include <limits>
#include <mutex>

#include "dsl/error.h"
#include "runtime/data/index_at.h"
#include "runtime/data/segments.h"
#include "runtime/support/processes/parallel.h"

namespace segfold {
namespace {

constexpr std::int64_t kSlicesOfPart = std::int64_t{1} << 13;  // slices that a thread takes at once

/// Joins two ranges of lengths, neither of which may be empty.
LengthRange both(const LengthRange& a, const LengthRange& b)
{
    return {std::min(a.shortest, b.shortest), std::max(a.longest, b.longest), a.padded + b.padded};
}

/// Arrays of the segments' begins and ends.
template <class Index>
struct Bounds {
    const Index* begins;
    const Index* ends;
};

/// Calls `look` with the bounds of offsets or ranges as arrays of one type. Each index width gets its own
/// loop, which compilers vectorise.
template <class Look>
auto visit_bounds(const Segments& segments, Look look)
{
    const bool is_ranges = segments.form == SegmentForm::ranges;
    const auto& first = is_ranges ? segments.begins : segments.offsets;
    const auto bounds_of = [&]<class Index>(Index /*width*/) {
        const auto* begins = first.as<Index>().data();
        return Bounds<Index>{begins, is_ranges ? segments.ends.as<Index>().data() : begins + 1};
    };
    return first.type() == Type::i32 ? look(bounds_of(std::int32_t{})) : look(bounds_of(std::int64_t{}));
}

/// Returns the range of lengths of `count` segments from `first` on. `count` is at most the size of a slice.
template <class Index>
LengthRange range_of_slice(Bounds<Index> bounds, std::int64_t first, std::int64_t count)
{
    Index shortest = std::numeric_limits<Index>::max(), longest = 0;
    for (std::int64_t s = first; s < first + count; ++s) {
        const Index length = bounds.ends[s] - bounds.begins[s];
        shortest = std::min(shortest, length);
        longest = std::max(longest, length);
    }
    return {shortest, longest, count * longest};
}

/// Returns the range of lengths of the segments `begin` to `end` - 1. `begin` must be the first segment of a
/// slice.
template <class Index>
LengthRange range_between(Bounds<Index> bounds, std::int64_t begin, std::int64_t end)
{
    LengthRange range{std::numeric_limits<std::int64_t>::max()};
    for (; begin + kSliceSegments <= end; begin += kSliceSegments)
        range = both(range, range_of_slice(bounds, begin, kSliceSegments));
    return begin == end ? range : both(range, range_of_slice(bounds, begin, end - begin));
}

}  // namespace

std::int64_t Segments::begin(std::int64_t segment) const
{
    switch (form) {
        case SegmentForm::whole: return 0;
        case SegmentForm::uniform: return segment * uniform_length;
        case SegmentForm::offsets:
        case SegmentForm::flags:
        case SegmentForm::keys: return index_at(offsets, segment);
        case SegmentForm::ranges: return index_at(begins, segment);
        case SegmentForm::groups: break;
    }
    throw InternalError("unknown segment form");
}

std::int64_t Segments::end(std::int64_t segment) const
{
    switch (form) {
        case SegmentForm::whole: return num_elements;
        case SegmentForm::uniform: return (segment + 1) * uniform_length;
        case SegmentForm::offsets:
        case SegmentForm::flags:
        case SegmentForm::keys: return index_at(offsets, segment + 1);
        case SegmentForm::ranges: return index_at(ends, segment);
        case SegmentForm::groups: break;
    }
    throw InternalError("unknown segment form");
}

LengthRange length_range(const Segments& segments)
{
    if (segments.num_segments == 0)
        return {};
    if (segments.form == SegmentForm::groups)  // not counted: one group may have all elements
        return {0, segments.num_elements, segments.num_elements};
    if (segments.form == SegmentForm::whole || segments.form == SegmentForm::uniform)
        return {segments.length(0), segments.length(0), segments.num_segments * segments.length(0)};
    LengthRange all{std::numeric_limits<std::int64_t>::max()};
    std::mutex mutex;
    const auto num_slices = (segments.num_segments + kSliceSegments - 1) / kSliceSegments;
    parallel_for(num_slices, kSlicesOfPart, [&](std::int64_t begin, std::int64_t end) {
        const auto last = std::min(end * kSliceSegments, segments.num_segments);
        const auto range = visit_bounds(
            segments, [&](auto bounds) { return range_between(bounds, begin * kSliceSegments, last); });
        const std::lock_guard lock(mutex);
        all = both(all, range);
    });
    return all;
}

namespace {

/// Returns the segments with `made(array)` in place of each array.
template <class Made>
Segments with_arrays(const Segments& segments, const Made& made)
{
    Segments other;
    other.form = segments.form;
    other.num_elements = segments.num_elements;
    other.num_segments = segments.num_segments;
    other.uniform_length = segments.uniform_length;
    other.offsets = made(segments.offsets);
    other.begins = made(segments.begins);
    other.ends = made(segments.ends);
    other.flags = made(segments.flags);
    other.item_keys = made(segments.item_keys);
    other.numbers = made(segments.numbers);
    if (segments.keys)
        other.keys = made(*segments.keys);
    other.has_wide_indices = segments.has_wide_indices;
    return other;
}

}  // namespace

Segments Segments::copy() const
{
    return with_arrays(*this, [](const Array& array) { return array.copy(); });
}

Segments Segments::lend() const
{
    return with_arrays(*this, [](const Array& array) { return array.lend(); });
}

std::int64_t num_items(const Segments& segments)
{
    if (segments.form != SegmentForm::ranges)
        return segments.num_elements;
    if (segments.num_segments == 0)
        return 0;
    return visit_bounds(segments, [&]<class Index>(Bounds<Index> bounds) {
        std::int64_t items = 0;
        for (std::int64_t s = 0; s < segments.num_segments; ++s) {
            const std::int64_t length = bounds.ends[s] - bounds.begins[s];
            if constexpr (sizeof(Index) == 4)  // the sum of 32-bit lengths cannot overflow
                items += length;
            else if (__builtin_add_overflow(items, length, &items))
                return std::numeric_limits<std::int64_t>::max();
        }
        return items;
    });
}

}  // namespace segfold
