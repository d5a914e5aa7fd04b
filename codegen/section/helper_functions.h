#pragma once
// Constants and small functions that the printed expressions rely on, e.g. kNan, divide_i32, to_u8.
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"

namespace segfold {

/// Returns all of these in the order in which they must stand; most files need none.
std::vector<Piece> helper_pieces(Dialect dialect = Dialect::cuda);

}  // namespace segfold
