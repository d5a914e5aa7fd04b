#pragma once
// Counts distinct keys, warns about keys with several runs, and sorts elements by key.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// Returns the number of distinct keys, of any type. Keys are equal if their bits are equal.
///
/// If keys rise or fall strictly, this takes one pass over them. Otherwise it takes two more passes, and
/// sorts repeated keys.
[[nodiscard]] std::int64_t count_distinct(const Array& keys);

/// Returns a message that keys occur in several runs if there are fewer distinct keys than runs; empty if
/// each key has one run. `recipe` ends the message.
[[nodiscard]] std::string text_of_returning_keys(std::int64_t num_runs, std::int64_t num_distinct,
                                                 std::string_view recipe);

/// Adds a warning if keys occur in several runs of this part of a stream, and then sets `has_warned`. Does
/// nothing if `has_warned` is already set.
void warn_of_returning_keys(const Array& run_keys, bool& has_warned, std::vector<std::string>& warnings);

/// Returns the positions that sort the keys; none if the keys are sorted already. Equal keys keep their
/// order. Positions are i32, or i64 if i32 does not suffice.
///
/// Floats are ordered by their bits, so that equal bits come together: -0.0 comes before 0.0, and NaN beyond
/// the infinities.
[[nodiscard]] std::optional<Array> sorted_places(const Array& keys);

/// Returns the entries of `array` at `places`. An entry is a number, or a row of row_length() numbers. Throws
/// InternalError if there are not as many entries as places.
[[nodiscard]] Array taken_at(const Array& array, const Array& places);

/// Returns the numbers of `array` at `places`.
[[nodiscard]] Array chosen_from(const Array& array, const Array& places);

/// Returns the inverse of a permutation: entry `places[i]` of the result is i. The result is i64.
[[nodiscard]] Array inverse(const Array& places);

/// Moves entry `i` to place `places[i]`, which undoes taken_at(). `places` come from sorted_places(). Throws
/// InternalError if there are not as many entries as places.
void put_back(Array& array, const Array& places);

/// Throws InputError if the operator reads `index`, because its elements must then not be moved. `asked`
/// names the option that would move them: "--sort-keys".
void require_movable(const Operator& op, std::string_view asked);

}  // namespace segfold
