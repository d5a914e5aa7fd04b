#pragma once
// Emits the functions of `map` and `scan` in native texts. Both take an element. `map` also takes the results
// of the element's segment. `scan` also takes the states before the element and through it.
#include <vector>

#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// Returns the pieces that native stages may use for `map` and `scan`; none for an operator with neither.
/// `rows` is with_reads_as_columns() of the problem's operator.
std::vector<Piece> native_map_section(const Problem& problem, const RowOperator& rows);

}  // namespace segfold
