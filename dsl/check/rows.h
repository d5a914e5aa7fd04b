#pragma once
// Operators over rows: what is applied to each feature alone, and what cannot be.
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// True if a column or a table holds rows; then every result is a row.
[[nodiscard]] bool has_rows(const Operator& op);

/// The operator as it is applied to one feature: a column of rows is a column, a table of rows a table.
[[nodiscard]] Operator of_one_feature(Operator op);

/// A fault of an operator over rows, with its place and what to do.
struct RowFault {
    Position position;
    std::string message, hint;
};

/// What cannot be folded feature by feature; none for an operator without rows.
///
/// Every result and output must depend on a row, because one that does not is a number for each segment, not
/// a row. The index of a table of rows must not depend on a row, and is read whatever conditions say.
[[nodiscard]] std::vector<RowFault> row_faults(const Operator& checked);

/// A read of a table of rows: its entry stands for the whole row.
struct RowRead {
    std::string column;  ///< the name by which lift reads it, which nothing else has
    std::string table;
    Expression index;  ///< without lets: of columns and places alone
};

/// An operator over rows as lift reads them: every read of a table of rows is a column of its own.
struct RowOperator {
    Operator op;  ///< of one feature; columns of rows, other parameters, then a column for each read
    std::vector<RowRead> reads;
};

[[nodiscard]] RowOperator with_reads_as_columns(const Operator& checked);

}  // namespace segfold
