#pragma once
// Finds the parts of an operator that are so plain that a library has a faster path for them: loads of
// numbers, sums, stores of states.
#include "dsl/operator.h"

namespace segfold {

/// Returns the column whose elements lift returns unchanged as states; null if there is none.
[[nodiscard]] const Parameter* lifted_column(const Operator& op);

/// True if the operator's result is the unchanged state.
[[nodiscard]] bool stores_state(const Operator& op);

/// True if the only output of an element is an unchanged state. The operator must have a scan.
[[nodiscard]] bool scans_state(const Operator& op);

/// True if combine is `a + b` for numbers of at least 32 bits, which C++ does not widen.
[[nodiscard]] bool is_plus(const Operator& op);

}  // namespace segfold
