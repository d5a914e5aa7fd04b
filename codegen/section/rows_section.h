#pragma once
// The pieces of kernels over rows of features: rows loaded, lifted feature by feature, finished and stored.
#include <set>
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// The pieces that stages over rows may mention; none for an operator without rows. `rows` is
/// with_reads_as_columns() of the problem's operator.
std::vector<Piece> rows_section(const Problem& problem, const RowOperator& rows);

/// The names that a read's index is computed from: columns and places.
std::set<std::string> names_of_place(const RowRead& read);

/// The function that gives the entry of a read from the numbers that it needs.
std::string place_function(const Problem& problem, const RowOperator& rows, const RowRead& read,
                           Dialect dialect);

/// The call of that function where a Row has its numbers.
std::string place_call(const RowOperator& rows, const RowRead& read);

}  // namespace segfold
