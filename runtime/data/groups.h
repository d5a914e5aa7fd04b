#pragma once
// Groups elements that stand in any order, by group numbers or by keys.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/layout.h"
#include "runtime/data/segments.h"

namespace segfold {

/// An order of the elements that makes each group a segment: first the elements of no group, then group after
/// group. Elements of a group keep their order.
class GroupOrder {
public:
    /// Sorts elements by group. `groups` has an integer for each element: the group's number, from 0 to
    /// `num_groups` - 1; a negative number means that the element has no group. Without `num_groups` the
    /// number of groups is the largest number plus one.
    ///
    /// Takes one pass over `groups`, and for each core one pass over the counts of the groups. Without
    /// `num_groups` it takes another pass over `groups`. Throws InputError that names the first number that
    /// is too large.
    GroupOrder(const Array& groups, std::optional<std::int64_t> num_groups);

    /// One segment for each group, in ascending order: offsets, or ranges if some elements have no group.
    [[nodiscard]] const Segments& segments() const { return segments_; }
    [[nodiscard]] Segments take_segments() { return std::move(segments_); }
    /// False if the elements already stand in the order of groups.
    [[nodiscard]] bool moves() const { return moves_; }
    /// Returns the entries of `array` in the order of groups. An entry is a number, or a row of row_length()
    /// numbers. Throws InternalError if the array does not have one entry for each element.
    [[nodiscard]] Array sorted(const Array& array) const { return moved(array, true); }
    /// Returns the entries of `array`, which must be in the order of groups, in the original order.
    [[nodiscard]] Array unsorted(const Array& array) const { return moved(array, false); }
    /// Returns the original position of each sorted element: i64.
    [[nodiscard]] Array places() const;

private:
    friend struct KeyGroups;
    /// Groups integer keys from `least` to `least + num_groups - 1`. Each integer of this range is a group.
    GroupOrder(const Array& keys, std::uint64_t least, std::int64_t num_groups);
    template <class Number>
    void count(std::span<const Number> numbers, std::int64_t num_groups, std::optional<std::uint64_t> least);
    template <class Number, class Slot, class Index>
    void count_as(std::span<const Number> numbers, std::int64_t num_groups,
                  std::optional<std::uint64_t> least);
    [[nodiscard]] Array moved(const Array& array, bool sorts) const;

    std::int64_t num_elements_ = 0;
    std::int64_t num_slots_ = 0;  ///< number of groups + 1; slot 0 is for the elements of no group
    std::int64_t num_shares_ = 0;
    Array slots_;   ///< slot of each element: u16, i32 or i64
    Array begins_;  ///< [num_shares, num_slots]: sorted place of the share's first element in the slot; i32
                    ///< or i64
    Segments segments_;
    bool moves_ = false;
};

/// Makes segments of form groups: elements stay in place, and the segments hold each element's group number.
///
/// Takes one pass over `numbers`. Throws InputError as GroupOrder() does.
[[nodiscard]] Segments segments_from_groups(Array numbers, std::optional<std::int64_t> num_groups);

/// Throws InputError, because `number` of an element is no group's.
[[noreturn]] void refuse_group(std::int64_t element, const std::string& number, std::int64_t num_groups);

/// Returns the number of elements of each group, for segments of form groups.
[[nodiscard]] std::vector<std::int64_t> lengths_of_groups(const Segments& segments);

/// Returns the first group without elements, for segments of form groups; none if every group has elements.
[[nodiscard]] std::optional<std::int64_t> first_empty_group(const Segments& segments);

/// Numbers of the distinct keys of elements.
struct NumberedKeys {
    Array numbers;  ///< the number of each element's key: u16, i32 or i64
    Array firsts;   ///< first element that has the key of each number: i32, or i64 if i32 does not suffice
};

/// Numbers the distinct keys of elements. Keys are equal if their bits are equal. With several columns, a key
/// is a row of their values, and the first column counts most in the order of keys.
///
/// Takes one pass over each column, which looks keys up in a table, and one pass over the numbers. Throws
/// InternalError if there are no columns, or if columns differ in length.
[[nodiscard]] NumberedKeys number_keys(std::span<const Array> columns, KeyOrder order);

/// The size of the range of integer keys, if it is not larger than their number: no more distinct keys are
/// there. Takes one pass over the keys.
[[nodiscard]] std::optional<std::int64_t> size_of_range(const Array& keys);

/// Elements grouped by the distinct keys of one column.
struct KeyGroups {
    GroupOrder order;
    Array keys;  ///< key of each group

    /// Groups the elements of `column` by key. In ascending order, integer keys with a size_of_range() are
    /// grouped by their distance from the least key. Other keys are grouped by
    /// number_keys().
    KeyGroups(const Array& column, KeyOrder order);
    /// Groups elements by `numbered`, the result of number_keys() for `column`.
    KeyGroups(const Array& column, const NumberedKeys& numbered);
};

}  // namespace segfold
