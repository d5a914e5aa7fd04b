#pragma once
// A caller's description of segments, by arrays on the host or on a GPU.
#include <cstdint>
#include <optional>

#include "dsl/layout.h"
#include "runtime/data/array_view.h"

namespace segfold {

/// The segments of a fold's elements, as one of the functions below describes them.
struct SegmentsView {
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;
    ArrayView first;              ///< offsets, lengths, begins, flags, keys or group numbers
    ArrayView second;             ///< ends of ranges; empty for other layouts
    MutableArrayView found_keys;  ///< for keys: receives the key of each segment; required on a device
    /// For flags and keys: receives the number of segments as one index; required on a device.
    MutableArrayView num_found;
    std::optional<std::int64_t> num_groups = {};  ///< number of groups, if the caller gives it
    std::optional<KeyOrder> group_order = {};     ///< order of the groups' keys; empty if `first` has numbers

    [[nodiscard]] Place place() const { return first.place; }
};

/// Makes one segment of all elements.
[[nodiscard]] inline SegmentsView whole() { return {}; }

/// Makes segments of `length` elements each.
[[nodiscard]] inline SegmentsView uniform(std::int64_t length)
{
    SegmentsView view;
    view.kind = LayoutKind::uniform;
    view.uniform_length = length;
    return view;
}

namespace detail {
[[nodiscard]] inline SegmentsView segments_by(LayoutKind kind, const ArrayView& first,
                                              const ArrayView& second = {})
{
    SegmentsView view;
    view.kind = kind;
    view.first = first;
    view.second = second;
    return view;
}
}  // namespace detail

/// Describes S segments by S + 1 non-decreasing offsets. The first offset is 0, the last is the number of
/// elements. Offsets on a device must be i32 or i64.
[[nodiscard]] inline SegmentsView offsets(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::offsets, values);
}

/// Describes segments by their lengths, which add up to the number of elements. Lengths on a device must be
/// i32 or i64.
[[nodiscard]] inline SegmentsView lengths(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::lengths, values);
}

/// Describes segments by ranges. Segment s has the elements from begins[s] to ends[s] - 1. Ranges may leave
/// gaps, overlap and come in any order. Begins and ends on a device must be i32 or i64.
[[nodiscard]] inline SegmentsView ranges(const ArrayView& begins, const ArrayView& ends)
{
    return detail::segments_by(LayoutKind::ranges, begins, ends);
}

/// Describes segments by one flag for each element, nonzero if a segment begins at this element. Flags on a
/// device must be bool, i8 or u8.
[[nodiscard]] inline SegmentsView flags(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::flags, values);
}
/// Describes segments by flags. The fold writes the number of segments to `num_found`: one i32, or one i64
/// for a plan with 64-bit indices. On a device the kernel finds the segments, so a plan's result arrays need
/// as many entries as there are elements.
[[nodiscard]] inline SegmentsView flags(const ArrayView& values, const MutableArrayView& num_found)
{
    auto view = flags(values);
    view.num_found = num_found;
    return view;
}

/// Describes segments by one key for each element. A segment is a run of adjacent elements with equal keys.
/// For equal keys that are not adjacent, use by().
[[nodiscard]] inline SegmentsView keys(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::keys, values);
}
/// Describes segments by keys. The fold writes the number of segments to `num_found` (one i32, or one i64 for
/// a plan with 64-bit indices) and the segments' keys to `found_keys`. On a device the kernel finds the
/// segments, so a plan's result arrays and `found_keys` need as many entries as there are elements.
[[nodiscard]] inline SegmentsView keys(const ArrayView& values, const MutableArrayView& found_keys,
                                       const MutableArrayView& num_found)
{
    auto view = keys(values);
    view.found_keys = found_keys;
    view.num_found = num_found;
    return view;
}

/// Describes groups by one integer for each element, from 0 to `num_groups` - 1, in any order. An element
/// with a negative number belongs to no group.
///
/// Each group is a segment. Elements of a group are folded in their order in the columns. If `num_groups` is
/// empty, the number of groups is the largest group number plus one.
///
/// A fold sorts copies of the columns, unless a kernel of the back end takes unsorted columns. Plans take
/// groups only if there is such a kernel. On a device only plans take groups. A plan skips elements whose
/// group number is too large, and Plan::require_tables_read_inside() then throws. On the host the run itself
/// throws.
[[nodiscard]] inline SegmentsView groups(const ArrayView& numbers,
                                         std::optional<std::int64_t> num_groups = std::nullopt)
{
    auto view = detail::segments_by(LayoutKind::groups, numbers);
    view.num_groups = num_groups;
    return view;
}

/// Describes segments by keys in any order, one for each element. The elements with the same key are a
/// segment, and are folded in their order in the columns.
///
/// Keys are equal if their bits are equal. Results come with the key of each segment, in `order`. A fold
/// sorts copies of the columns, unless a kernel takes unsorted columns. Folds and scans on the host take such
/// keys; plans do not.
[[nodiscard]] inline SegmentsView by(const ArrayView& keys, KeyOrder order = KeyOrder::ascending)
{
    auto view = detail::segments_by(LayoutKind::groups, keys);
    view.group_order = order;
    return view;
}

}  // namespace segfold
