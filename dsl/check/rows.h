#pragma once
// Operators over rows. A fold of rows treats each feature (each number of a row) by itself.
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// True if a column or a table of `op` holds rows. Every result is then a row.
[[nodiscard]] bool has_rows(const Operator& op);

/// Returns the operator for one feature, that is, for one number of each row. Columns and tables of rows
/// become columns and tables of numbers.
[[nodiscard]] Operator of_one_feature(Operator op);

/// A fault of an operator over rows: its place and the remedy.
struct RowFault {
    Position position;
    std::string message, hint;
};

/// Finds the faults that prevent a fold of each feature by itself. Empty for an operator without rows.
///
/// Every result and output must depend on a row; otherwise it would be one number for each segment. A table
/// of rows must be read unconditionally, at an index that does not depend on a row. In map, results count as
/// rows.
[[nodiscard]] std::vector<RowFault> row_faults(const Operator& checked);

/// A read of a table of rows. In an expression, it stands for one feature of the row.
struct RowRead {
    std::string column;  ///< unique name of the column by which lift, map or scan reads the row
    std::string table;
    Expression index;  ///< made of columns, places, scalars and tables of numbers; contains no locals
};

/// An operator over rows, in which every read of a table of rows is a column of its own.
struct RowOperator {
    Operator op;  ///< for one feature; parameters: columns of rows, others, then a column for each read
    std::vector<RowRead> reads = {};       ///< reads of lift
    std::vector<RowRead> map_reads = {};   ///< reads of map; equal reads of two parts share a column
    std::vector<RowRead> scan_reads = {};  ///< reads of scan
};

[[nodiscard]] RowOperator with_reads_as_columns(const Operator& checked);

}  // namespace segfold
