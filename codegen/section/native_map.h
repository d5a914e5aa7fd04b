#pragma once
// Write-back in native texts: the operator's `map` as a function of an element and the results of its
// segment.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// The pieces for native stages that map; none for an operator without `map`.
std::vector<Piece> native_map_section(const Problem& problem);

}  // namespace segfold
