#pragma once
// Emits the struct of an element's columns, for kernels that move elements as they are and lift them later.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// Returns the pieces Columns, load_columns() and lift_columns(). There are none if `lift` reads no column.
/// lift_columns() takes no `index` and no `position`; it is left out if `lift` needs one of them.
std::vector<Piece> columns_section(const Operator& op);

}  // namespace segfold
