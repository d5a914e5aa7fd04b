#pragma once
// Elements in any order, each with the number of its group, or with keys.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dsl/array.h"
#include "dsl/layout.h"
#include "runtime/data/segments.h"

namespace segfold {

/// The order of elements in which each group is a segment: first the elements of no group, then group after
/// group. Elements of a group keep their order.
class GroupOrder {
public:
    /// Sorts elements by group. `groups` has an integer for each element: the group's number, from 0 to
    /// `num_groups` - 1; a negative number means no group. Without `num_groups` there are as many groups as
    /// the largest number plus one.
    ///
    /// Takes one pass over `groups`, and one over the groups for each core; another pass over `groups`
    /// without `num_groups`. Throws InputError for a number that is too large, and names the first one.
    GroupOrder(const Array& groups, std::optional<std::int64_t> num_groups);

    /// One segment for each group, in ascending order: offsets, or ranges if some elements have no group.
    [[nodiscard]] const Segments& segments() const { return segments_; }
    [[nodiscard]] Segments take_segments() { return std::move(segments_); }
    /// False if all elements stand in this order already.
    [[nodiscard]] bool moves() const { return moves_; }
    /// Returns the entries of `array` in this order: numbers, or rows of its row_length(). Throws
    /// InternalError unless there is one for each element.
    [[nodiscard]] Array sorted(const Array& array) const { return moved(array, true); }
    /// Returns the entries of `array`, which are in this order, in the order of the elements.
    [[nodiscard]] Array unsorted(const Array& array) const { return moved(array, false); }
    /// Returns where the elements in this order stand: i64.
    [[nodiscard]] Array places() const;

private:
    friend struct KeyGroups;
    /// The order of integers that go from `least` to `least + num_groups - 1`.
    GroupOrder(const Array& keys, std::uint64_t least, std::int64_t num_groups);
    template <class Number>
    void count(std::span<const Number> numbers, std::int64_t num_groups, std::optional<std::uint64_t> least);
    template <class Number, class Slot, class Index>
    void count_as(std::span<const Number> numbers, std::int64_t num_groups,
                  std::optional<std::uint64_t> least);
    [[nodiscard]] Array moved(const Array& array, bool sorts) const;

    std::int64_t num_elements_ = 0;
    std::int64_t num_slots_ = 0;  ///< groups, and one before them for the elements of no group
    std::int64_t num_shares_ = 0;
    Array slots_;   ///< of each element: u16, i32 or i64
    Array begins_;  ///< for each share, where its first element of each slot goes: i32, or i64
    Segments segments_;
    bool moves_ = false;
};

/// Segments of form groups: elements stay as they are, each with the number of its group.
///
/// Takes one pass over `numbers`. Throws InputError as GroupOrder() does.
[[nodiscard]] Segments segments_from_groups(Array numbers, std::optional<std::int64_t> num_groups);

/// The first group without elements, of segments of form groups; none if each has some.
[[nodiscard]] std::optional<std::int64_t> first_empty_group(const Segments& segments);

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

/// The size of the range of integer keys, if it is not larger than their number: no more distinct keys are
/// there. Takes one pass over the keys.
[[nodiscard]] std::optional<std::int64_t> size_of_range(const Array& keys);

/// Elements grouped by the distinct keys of one column.
struct KeyGroups {
    GroupOrder order;
    Array keys;  ///< of each group

    /// Integers with a size_of_range() are grouped by their distance from the least one, other keys by
    /// number_keys().
    KeyGroups(const Array& column, KeyOrder order);
    /// Groups elements by `numbered`, the result of number_keys() for `column`.
    KeyGroups(const Array& column, const NumberedKeys& numbered);
};

}  // namespace segfold
