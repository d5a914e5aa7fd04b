#pragma once
// Derives operators that combine or scan the states of a given operator, for relations between results.
#include "dsl/operator.h"
#include "runtime/scale/slices/slice_operators.h"

namespace segfold::regress {

/// Returns an operator whose elements are states of `op`. It has one column per state field, and the combine
/// of `op`.
[[nodiscard]] Operator joining_operator(const Operator& op);

/// Returns an operator that returns the states of `op`, field by field. Its results are the state of each
/// segment, its outputs the running state at each element. It scans in the direction of `op`.
[[nodiscard]] Operator scan_states_operator(const Operator& op);

/// True if lift reads an element's position in its segment or the segment's number.
[[nodiscard]] bool lift_knows_segments(const Operator& op);

}  // namespace segfold::regress
