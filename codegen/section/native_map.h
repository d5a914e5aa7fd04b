#pragma once
// Emits `map` and `scan` in native texts. `map` is a function of an element and the results of its segment.
// `scan` is a function of an element, the state before the element, and the state that includes it.
#include <vector>

#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// Returns the pieces that native stages may use for `map` and `scan`; none for an operator with neither.
/// `rows` is with_reads_as_columns() of the problem's operator.
std::vector<Piece> native_map_section(const Problem& problem, const RowOperator& rows);

}  // namespace segfold
