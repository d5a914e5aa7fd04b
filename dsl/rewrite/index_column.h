#pragma once
// Gives operators a column of indices, for folds that reorder the elements.
#include "dsl/operator.h"

namespace segfold {

/// True if an expression of the operator reads `index`.
[[nodiscard]] bool reads_index(const Operator& op);

/// Returns the operator with a new last parameter in place of `index`: a column of i64. A fold that has
/// sorted its elements passes the indices from before the sort in this column.
[[nodiscard]] Operator with_index_column(Operator op);

}  // namespace segfold
