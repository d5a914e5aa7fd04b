#pragma once
// Gives operators a column of indices, for folds that reorder the elements.
#include "dsl/operator.h"

namespace segfold {

/// True if an expression of the operator reads `index`.
[[nodiscard]] bool reads_index(const Operator& op);

/// The operator with a further column, its last parameter, in place of `index`: the position of each element,
/// i64; `lift` takes a negative one as 0. A fold of elements that were sorted then gives the positions that
/// they had before.
[[nodiscard]] Operator with_index_column(Operator op);

}  // namespace segfold
