#pragma once
// Gives operators a column of indices, for folds that reorder the elements.
#include "dsl/operator.h"

namespace segfold {

/// True if an expression of the operator reads `index`.
[[nodiscard]] bool reads_index(const Operator& op);

/// The operator with a new last parameter in place of `index`: a column of i64. A fold of sorted elements can
/// then give the indices that they had before.
[[nodiscard]] Operator with_index_column(Operator op);

}  // namespace segfold
