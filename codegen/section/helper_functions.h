#pragma once
// Constants and small functions that the printed expressions rely on, e.g. kNan, divide_i32, to_u8.
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"

namespace segfold {

/// Returns all these pieces in the order in which they must stand. Most texts need none of them.
std::vector<Piece> helper_pieces(Dialect dialect = Dialect::cuda);

}  // namespace segfold
