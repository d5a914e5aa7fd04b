#pragma once
// Emits write-back in native texts: `map` as a function of an element and the results of its segment.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// The pieces that native stages may use for a map; none for an operator without `map`.
std::vector<Piece> native_map_section(const Problem& problem);

}  // namespace segfold
