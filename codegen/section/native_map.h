#pragma once
// Emits outputs of elements in native texts: `map` as a function of an element and the results of its
// segment, `scan` as one of an element and the states before it and with it.
#include <vector>

#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// The pieces that native stages may use for `map` and `scan`; none for an operator without either. `rows` is
/// the operator for one feature.
std::vector<Piece> native_map_section(const Problem& problem, const RowOperator& rows);

}  // namespace segfold
