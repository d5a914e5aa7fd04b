#pragma once
// Gives operators a column of indices, for folds that reorder the elements.
#include "dsl/operator.h"

namespace segfold {

/// True if an expression of the operator reads `index`.
[[nodiscard]] bool reads_index(const Operator& op);

/// Replaces `index` by a new column of i64, the last parameter of the operator. `lift` takes a negative entry
/// as 0. A fold of sorted elements passes their original indices in this column.
[[nodiscard]] Operator with_index_column(Operator op);

}  // namespace segfold
