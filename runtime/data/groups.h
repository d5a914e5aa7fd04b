#pragma once
// Groups elements that come in any order, by group numbers or by keys.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/layout.h"
#include "runtime/data/segments.h"

namespace segfold {

/// An order of the elements in which each group is contiguous. Elements without a group come first, then
/// group after group. Elements of a group keep their order.
class GroupOrder {
public:
    /// Sorts elements by group.
    ///
    /// `groups` has an integer for each element: the number of its group, from 0 to `num_groups` - 1, or a
    /// negative number for no group. If `num_groups` is empty, the number of groups is the largest number
    /// plus one. Throws InputError that names the first number that is too large.
    ///
    /// Takes one pass over `groups`, and for each core one pass over the counts of the groups. If
    /// `num_groups` is empty, takes another pass over `groups`.
    GroupOrder(const Array& groups, std::optional<std::int64_t> num_groups);

    /// One segment for each group, in ascending order. The form is offsets, or ranges if some elements have
    /// no group.
    [[nodiscard]] const Segments& segments() const { return segments_; }
    [[nodiscard]] Segments take_segments() { return std::move(segments_); }
    /// False if the elements are already in the order of groups.
    [[nodiscard]] bool moves() const { return moves_; }
    /// Returns the entries of `array` in the order of groups. An entry is a number, or a row of row_length()
    /// numbers. Throws InternalError if the number of entries is not the number of elements.
    [[nodiscard]] Array sorted(const Array& array) const { return moved(array, true); }
    /// Returns the entries of `array`, which must be in the order of groups, in the original order.
    [[nodiscard]] Array unsorted(const Array& array) const { return moved(array, false); }
    /// Returns the original position of each sorted element, as i64.
    [[nodiscard]] Array places() const;

private:
    friend struct KeyGroups;
    /// Groups integer keys from `least` to `least + num_groups - 1`. Each integer in this range is a group.
    GroupOrder(const Array& keys, std::uint64_t least, std::int64_t num_groups);
    template <class Number>
    void count(std::span<const Number> numbers, std::int64_t num_groups, std::optional<std::uint64_t> least);
    template <class Number, class Slot, class Index>
    void count_as(std::span<const Number> numbers, std::int64_t num_groups,
                  std::optional<std::uint64_t> least);
    [[nodiscard]] Array moved(const Array& array, bool sorts) const;

    std::int64_t num_elements_ = 0;
    std::int64_t num_slots_ = 0;  ///< number of groups + 1; slot 0 has the elements without a group
    std::int64_t num_shares_ = 0;
    Array slots_;   ///< slot of each element: u16, i32 or i64
    Array begins_;  ///< [num_shares, num_slots]: sorted position of the share's first element in the slot;
                    ///< i32 or i64
    Segments segments_;
    bool moves_ = false;
};

/// Makes segments of form groups. Elements stay in place, and the segments have each element's group number.
///
/// Takes one pass over `numbers`. Throws InputError like GroupOrder().
[[nodiscard]] Segments segments_from_groups(Array numbers, std::optional<std::int64_t> num_groups);

/// Makes segments of form groups without a look at the numbers. Kernels skip numbers that are too large and
/// report them; refuse_numbers() then names the first.
[[nodiscard]] Segments segments_from_unseen_groups(Array numbers, std::int64_t num_groups);

/// Throws InputError that names the first number that no group has. If there is none, says that the numbers
/// have changed.
[[noreturn]] void refuse_numbers(const Segments& segments);

/// Throws InputError, because no group has `number`, the group number of `element`.
[[noreturn]] void refuse_group(std::int64_t element, const std::string& number, std::int64_t num_groups);

/// Returns the number of elements of each group. `segments` must have the form groups.
[[nodiscard]] std::vector<std::int64_t> lengths_of_groups(const Segments& segments);

/// Returns the first group without elements; nothing if every group has elements. `segments` must have the
/// form groups.
[[nodiscard]] std::optional<std::int64_t> first_empty_group(const Segments& segments);

/// The distinct keys of elements, numbered from 0 on.
struct NumberedKeys {
    Array numbers;  ///< number of each element's key: u16, i32 or i64
    Array firsts;   ///< first element with each key: i32, or i64 if i32 does not suffice
};

/// The range of integer keys: `size` integers from `least` on.
struct KeyRange {
    std::uint64_t least;  ///< converted from the keys' type
    std::int64_t size;
};

/// Returns the range of integer keys. Its size bounds the number of distinct keys. Returns nothing if the
/// range is larger than the number of keys, or if the keys are no integers. Takes one pass over the keys.
[[nodiscard]] std::optional<KeyRange> range_of_keys(const Array& keys);

/// Numbers the distinct keys of elements.
///
/// Keys are equal if their bits are equal. With several columns, a key is a row of their values, and the
/// first column counts most in the order of keys. Takes one pass over each column with a lookup in a table,
/// and one pass over the numbers. Throws InternalError if there are no columns, or if columns differ in
/// length.
[[nodiscard]] NumberedKeys number_keys(std::span<const Array> columns, KeyOrder order);
/// Numbers the distinct keys of one column. `range` is its range_of_keys().
[[nodiscard]] NumberedKeys number_keys(const Array& keys, const std::optional<KeyRange>& range,
                                       KeyOrder order);

/// Numbers integer keys that lie within 2^15 of the first key. Returns nothing for other keys, and for few
/// keys. Takes one pass over the keys, and one over their numbers.
[[nodiscard]] std::optional<NumberedKeys> number_near_keys(const Array& keys, KeyOrder order);

/// Elements grouped by the distinct keys of one column.
struct KeyGroups {
    GroupOrder order;
    Array keys;  ///< key of each group

    /// Groups the elements of `column` by key. In ascending order, integer keys with a range_of_keys() are
    /// grouped by their distance from the least key. Other keys are grouped by number_keys().
    KeyGroups(const Array& column, KeyOrder order);
    /// Groups elements by `numbered`, the result of number_keys() for `column`.
    KeyGroups(const Array& column, const NumberedKeys& numbered);
};

}  // namespace segfold
