#pragma once
// Keys in any order: how many come back, and where each would stand in a sorted array.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// The number of different keys, of any type. Keys are equal if their bits are.
///
/// Keys that rise or fall cost one pass over them, others two more, and those that come back a sort.
[[nodiscard]] std::int64_t count_distinct(const Array& keys);

/// The warning that there are fewer distinct keys than runs, with `recipe`; "" if each key has one run.
[[nodiscard]] std::string text_of_returning_keys(std::int64_t num_runs, std::int64_t num_distinct,
                                                 std::string_view recipe);

/// Warns of keys of a stream's part that come back, unless a part before has.
void warn_of_returning_keys(const Array& run_keys, bool& has_warned, std::vector<std::string>& warnings);

/// The places of keys in ascending order, those of equal keys as they stand: indices of i32, or of i64 where
/// those do not suffice. Nothing where the keys are in order already.
///
/// Floats are ordered by their bits, so that equal bits come together: -0.0 stands before 0.0, and NaN beyond
/// the infinities.
[[nodiscard]] std::optional<Array> sorted_places(const Array& keys);

/// The entries of `array` at `places`, of which there are as many: numbers, or rows of its row_length().
/// Throws InternalError where there are not.
[[nodiscard]] Array taken_at(const Array& array, const Array& places);

/// Moves entry `i` to place `places[i]`: undoes taken_at(). `places` are those of sorted_places(), as many as
/// entries; otherwise throws InternalError.
void put_back(Array& array, const Array& places);

/// Throws InputError where the elements of an operator may not be moved, as it reads `index`. `asked` is what
/// would move them: "--sort-keys".
void require_movable(const Operator& op, std::string_view asked);

}  // namespace segfold
