#pragma once
// Derives operators that state relations between the results of a given operator.
#include "dsl/operator.h"
#include "runtime/scale/slices/slice_operators.h"

namespace segfold::regress {

/// Returns an operator that folds states of state_operator(): one column per state field, the same combine.
[[nodiscard]] Operator joining_operator(const Operator& op);

/// Returns an operator that folds and scans states: its results are the state of each segment, its outputs
/// the state with each element, field by field. It scans in the direction of `op`.
[[nodiscard]] Operator scan_states_operator(const Operator& op);

/// True if lift depends on an element's place in its segment or on the segment's number.
[[nodiscard]] bool lift_knows_segments(const Operator& op);

}  // namespace segfold::regress
