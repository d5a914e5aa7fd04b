#pragma once
// Rows of features in native texts: rows found, lifted feature by feature, finished and stored.
#include <vector>

#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// The pieces that native stages over rows may mention; none for an operator without rows. `rows` is
/// with_reads_as_columns() of the problem's operator.
std::vector<Piece> native_rows_section(const Problem& problem, const RowOperator& rows);

}  // namespace segfold
