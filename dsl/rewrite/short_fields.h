#pragma once
// Helpers of short_places.cpp and short_counts.cpp, which narrow i64 fields of a state to i32.
#include <set>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

using FieldNames = std::set<std::string>;

/// True for `==`, `!=`, `<`, `<=`, `>` and `>=`.
[[nodiscard]] bool is_comparison(const Expression& expression);

/// True for `min` and `max`.
[[nodiscard]] bool is_selection(const Expression& expression);

/// Returns the parts of an operator that make states: `lift`, `combine`, and `append` if it has one.
[[nodiscard]] std::vector<const Block*> state_blocks(const Operator& op);

/// Adapts `finish` and `scan`, which read states, to a state that holds `fields` in i32. The parts first
/// convert these fields back to i64, and the i32 limits in `limits` to the limits of i64. `op` still has the
/// old state.
void lengthen_reads(Operator& op, const FieldNames& fields, const std::set<std::string>& limits);

}  // namespace segfold
