#pragma once
// Emits the native functions that find, lift, finish and store rows of features.
#include <vector>

#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// Returns the pieces that native stages over rows may use; none for an operator without rows. `rows` is
/// with_reads_as_columns() of the problem's operator.
std::vector<Piece> native_rows_section(const Problem& problem, const RowOperator& rows);

}  // namespace segfold
