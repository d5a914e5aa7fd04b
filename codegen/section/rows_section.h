#pragma once
// Emits the functions that load, lift, finish and store rows of features in kernels.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// Returns the pieces that stages over rows may use; none for an operator without rows. `rows` is
/// with_reads_as_columns() of the problem's operator.
std::vector<Piece> rows_section(const Problem& problem, const RowOperator& rows);

/// Returns the names of the columns, tables and places (such as position) in the index of a read.
std::set<std::string> names_of_place(const RowRead& read);

/// Returns the text of a function that computes the index of a read. Its parameters are the values on which
/// the index depends.
std::string place_function(const Problem& problem, const RowOperator& rows, const RowRead& read,
                           Dialect dialect);

/// Returns a call of the function that place_function() emits. `column_value` returns the expression for the
/// value of a column.
std::string place_call(const RowOperator& rows, const RowRead& read,
                       const std::function<std::string(const std::string& column)>& column_value);

/// Same, but with members of a Row as arguments.
std::string place_call(const RowOperator& rows, const RowRead& read);

}  // namespace segfold
