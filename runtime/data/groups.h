#pragma once
// Elements in any order, each with the number of its group, or with keys.
#include <cstdint>
#include <optional>
#include <span>

#include "dsl/array.h"
#include "runtime/data/segments.h"

namespace segfold {

/// The order of elements in which each group is a segment.
struct GroupOrder {
    /// The position of each element in this order, i32, or i64 if i32 does not suffice: first come the
    /// elements of no group, then group after group. Elements of a group keep their order. None if all stand
    /// so already.
    std::optional<Array> positions;
    /// One segment for each group, in ascending order: offsets, or ranges if some elements have no group.
    Segments segments;
};

/// Sorts elements by group. `groups` has an integer for each element: the group's number, from 0 to
/// `num_groups` - 1; a negative number means no group. Without `num_groups` there are as many groups as the
/// largest number plus one.
///
/// Takes two passes over `groups`, and one over the groups. Throws InputError for a number that is too large,
/// and names the first one.
[[nodiscard]] GroupOrder order_by_group(const Array& groups, std::optional<std::int64_t> num_groups);

/// Elements with keys of any type, grouped by key.
struct NumberedKeys {
    Array numbers;  ///< the number of each element's key: i32, or i64 if i32 does not suffice
    Array firsts;   ///< for each number, the first element that has the key: of the same type
};

/// Numbers the distinct keys of elements. Keys are equal if their bits are. With several columns, a key is a
/// row of them, and the first column counts most.
///
/// Takes one pass over each column, which looks keys up in a table of the distinct ones, and one over the
/// numbers. Throws InternalError for no columns, and for columns that differ in length.
[[nodiscard]] NumberedKeys number_keys(std::span<const Array> columns, KeyOrder order);

}  // namespace segfold
