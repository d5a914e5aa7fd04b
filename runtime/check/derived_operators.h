#pragma once
// Derives operators that can express relations between results of another operator.
#include "dsl/operator.h"
#include "runtime/scale/slices/slice_operators.h"

namespace segfold::regress {

/// Returns an operator that folds states of state_operator(): one column per state field, the same combine.
[[nodiscard]] Operator joining_operator(const Operator& op);

/// True if lift depends on an element's place in its segment or on the segment's number.
[[nodiscard]] bool lift_knows_segments(const Operator& op);

}  // namespace segfold::regress
