#pragma once
// Descriptions of segments by a caller, with arrays on the host or on a GPU.
#include <cstdint>
#include <optional>

#include "dsl/layout.h"
#include "runtime/data/array_view.h"

namespace segfold {

/// The segments of a fold's elements. Made by the functions below.
struct SegmentsView {
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;
    ArrayView first;              ///< offsets, lengths, begins, flags, keys or numbers of groups
    ArrayView second;             ///< ends
    MutableArrayView found_keys;  ///< for keys: receives the key of each segment; required on a device
    /// For flags and keys: receives the number of segments, one index; required on a device.
    MutableArrayView num_found;
    std::optional<std::int64_t> num_groups = {};  ///< for groups
    std::optional<KeyOrder> group_order = {};     ///< for groups: if `first` holds keys, not numbers

    [[nodiscard]] Place place() const { return first.place; }
};

/// One segment of all elements.
[[nodiscard]] inline SegmentsView whole() { return {}; }

/// Segments of `length` elements each.
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

/// S + 1 non-decreasing offsets, the first 0, the last the number of elements; i32 or i64 on a device.
[[nodiscard]] inline SegmentsView offsets(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::offsets, values);
}

/// S lengths that add up to the number of elements; i32 or i64 on a device.
[[nodiscard]] inline SegmentsView lengths(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::lengths, values);
}

/// Segments [begins[s], ends[s]), which may leave gaps, overlap and come in any order; i32 or i64 on a
/// device.
[[nodiscard]] inline SegmentsView ranges(const ArrayView& begins, const ArrayView& ends)
{
    return detail::segments_by(LayoutKind::ranges, begins, ends);
}

/// One flag for each element, nonzero if a segment begins there; bool, i8 or u8 on a device.
[[nodiscard]] inline SegmentsView flags(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::flags, values);
}
/// Segments by flags, whose number the fold writes to `num_found`: one i32, or one i64 for a plan of 64-bit
/// indices. On a device the kernel finds the segments. A plan's result arrays need as many entries as there
/// are elements.
[[nodiscard]] inline SegmentsView flags(const ArrayView& values, const MutableArrayView& num_found)
{
    auto view = flags(values);
    view.num_found = num_found;
    return view;
}

/// One key for each element; runs of equal neighbours are the segments. by() takes keys in any order.
[[nodiscard]] inline SegmentsView keys(const ArrayView& values)
{
    return detail::segments_by(LayoutKind::keys, values);
}
/// Segments by keys. The fold writes their number to `num_found`, one i32, or one i64 for a plan of 64-bit
/// indices, and the key of each to `found_keys`. On a device the kernel finds the segments. A plan's result
/// arrays and `found_keys` need as many entries as there are elements.
[[nodiscard]] inline SegmentsView keys(const ArrayView& values, const MutableArrayView& found_keys,
                                       const MutableArrayView& num_found)
{
    auto view = keys(values);
    view.found_keys = found_keys;
    view.num_found = num_found;
    return view;
}

/// The number of its group for each element, an integer from 0 to `num_groups` - 1, in any order; a negative
/// number means no group.
///
/// Each group is a segment, and elements of a group are folded in the order in which they stand. Without
/// `num_groups` there are as many groups as the largest number plus one. A fold sorts copies of the columns,
/// unless a kernel of the back end takes them as they lie. Plans take groups if such a kernel serves them;
/// their kernels leave out elements whose number is too large, and note it
/// (Plan::require_tables_read_inside()). On a device groups are given to plans alone.
[[nodiscard]] inline SegmentsView groups(const ArrayView& numbers,
                                         std::optional<std::int64_t> num_groups = std::nullopt)
{
    auto view = detail::segments_by(LayoutKind::groups, numbers);
    view.num_groups = num_groups;
    return view;
}

/// One key for each element, in any order: each distinct key is a segment, and elements of a key are folded
/// in the order in which they stand.
///
/// Keys are equal if their bits are. A fold gives the key of each segment, in the order asked for, and sorts
/// copies of the columns. Such keys are given to folds and scans on the host, and not to plans.
[[nodiscard]] inline SegmentsView by(const ArrayView& keys, KeyOrder order = KeyOrder::ascending)
{
    auto view = detail::segments_by(LayoutKind::groups, keys);
    view.group_order = order;
    return view;
}

}  // namespace segfold
