#pragma once
// Operators made of another one, to state relations between its results.
#include "dsl/operator.h"
#include "runtime/scale/slices/slice_operators.h"

namespace segfold::regress {

/// Folds states that state_operator() gave: a column for each state field, the same combine.
[[nodiscard]] Operator joining_operator(const Operator& op);

/// True if lift reads an element's position in its segment, or its segment's number.
[[nodiscard]] bool lift_knows_segments(const Operator& op);

}  // namespace segfold::regress
