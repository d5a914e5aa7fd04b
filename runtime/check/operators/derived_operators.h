#pragma once
// Derives operators that join and scan the states of a given operator. Relations between results need them.
#include "dsl/operator.h"
#include "runtime/scale/slices/slice_operators.h"

namespace segfold::regress {

/// Returns an operator whose elements are states of `op`. It has one column for each field of the state, and
/// the same combine.
[[nodiscard]] Operator joining_operator(const Operator& op);

/// Returns an operator with the states of `op` as results and outputs, field by field. The results are the
/// state of each segment, the outputs its running states. It scans in the direction of `op`.
[[nodiscard]] Operator scan_states_operator(const Operator& op);

/// True if lift depends on an element's place in its segment or on the segment's number.
[[nodiscard]] bool lift_knows_segments(const Operator& op);

}  // namespace segfold::regress
