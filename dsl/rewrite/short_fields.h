#pragma once
// Shared by short_places.cpp and short_counts.cpp: fields of an i64 that a state keeps in an i32.
#include <set>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

using FieldNames = std::set<std::string>;

/// `==`, `!=`, `<`, `<=`, `>` or `>=`.
[[nodiscard]] bool is_comparison(const Expression& expression);

/// `min` or `max`.
[[nodiscard]] bool is_selection(const Expression& expression);

/// The parts of an operator that make states: `lift`, `combine`, and `append` where there is one.
[[nodiscard]] std::vector<const Block*> state_blocks(const Operator& op);

/// The finish of `op` if the state holds `fields` in an i32: it converts them to i64 first, and turns the i32
/// limits named in `limits` into those of i64.
[[nodiscard]] Block finish_of_short_fields(const Operator& op, const FieldNames& fields,
                                           const std::set<std::string>& limits);

}  // namespace segfold
