#pragma once
// Operators made of another one, in which relations between its results can be said.
#include "dsl/operator.h"
#include "runtime/scale/slices/slice_operators.h"

namespace segfold::regress {

/// Folds states that state_operator() gave: a column for each state field, the same combine.
[[nodiscard]] Operator joining_operator(const Operator& op);

/// True if lift tells elements apart by where they lie in their segment, or in which.
[[nodiscard]] bool lift_knows_segments(const Operator& op);

}  // namespace segfold::regress
