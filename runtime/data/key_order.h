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
/// Takes one pass over the keys if they rise or fall strictly. Otherwise takes two more passes, and sorts the
/// keys that occur repeatedly.
[[nodiscard]] std::int64_t count_distinct(const Array& keys);

/// Returns a message that keys occur in several runs, if there are fewer distinct keys than runs; empty if
/// each key has one run. `recipe` is the end of the message.
[[nodiscard]] std::string text_of_returning_keys(std::int64_t num_runs, std::int64_t num_distinct,
                                                 std::string_view recipe);

/// Adds a warning if keys occur in several runs of this part of a stream, and sets `has_warned`. Does nothing
/// if `has_warned` is already true.
void warn_of_returning_keys(const Array& run_keys, bool& has_warned, std::vector<std::string>& warnings);

/// Returns the positions that sort the keys; nothing if the keys are already sorted. Equal keys keep their
/// order. Positions are i32, or i64 if i32 does not suffice.
///
/// Floats are ordered by their bits, so that equal bits come together. -0.0 comes before 0.0, and NaN beyond
/// the infinities.
[[nodiscard]] std::optional<Array> sorted_places(const Array& keys);

/// Returns the entries of `array` at `places`. An entry is a number, or a row of row_length() numbers. Throws
/// InternalError if there are not as many entries as places.
[[nodiscard]] Array taken_at(const Array& array, const Array& places);

/// Returns the numbers of `array` at `places`.
[[nodiscard]] Array chosen_from(const Array& array, const Array& places);

/// Returns the inverse of a permutation: entry `places[i]` of the result is i. The result is i64.
[[nodiscard]] Array inverse(const Array& places);

/// Moves entry `i` to position `places[i]`, which undoes taken_at(). `places` is a result of sorted_places().
/// Throws InternalError if the number of entries is not the number of places.
void put_back(Array& array, const Array& places);

/// Throws InputError if the operator reads `index`, because moving its elements would change the results.
/// `asked` names the option that would move them, such as "--sort-keys".
void require_movable(const Operator& op, std::string_view asked);

}  // namespace segfold
