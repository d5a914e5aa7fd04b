#pragma once
// Constants and small functions used by printed expressions, such as kNan, divide_i32, to_u8.
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"

namespace segfold {

/// All helpers in the order that the text needs. Most files use none of them.
std::vector<Piece> helper_pieces(Dialect dialect = Dialect::cuda);

}  // namespace segfold
