#pragma once
// The constants and small functions that printed expressions use, such as kNan, divide_i32 and to_u8.
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"

namespace segfold {

/// Returns the pieces that define these constants and functions, in the order in which a text must define
/// them. Most texts need none of them.
std::vector<Piece> helper_pieces(Dialect dialect = Dialect::cuda);

}  // namespace segfold
