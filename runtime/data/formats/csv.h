#pragma once
// Reads columns of .csv files. A file has a line of names, then a line for each row, as spreadsheets and data
// frames write it.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/array.h"

namespace segfold {

/// True if a file's name is that of a .csv file, with or without compression by gzip: "x.csv", "x.csv.gz".
[[nodiscard]] bool is_csv_file(std::string_view path);

/// Reads the column called `column` as `type`. If `column` is empty, the file must have a single column.
///
/// A blank cell is NaN, and so is an empty line in a file of one column. Throws InputError that begins with
/// the path if
///   - a cell is blank and the type has no NaN,
///   - a cell is text, quoted or not, or a number beyond the type,
///   - a row has more or fewer cells than the line of names,
///   - a quote is not closed.
///
/// Source: Y. Shafranovich, "Common Format and MIME Type for Comma-Separated Values (CSV) Files", RFC 4180,
/// 2005.
Array read_csv_column(const std::string& path, const std::optional<std::string>& column, Type type);

/// Returns the type that suits the cells of a column. It is bool if all cells are true or false, i64 or u64
/// if all cells are integers and none is blank, else f64.
Type csv_column_type(const std::string& path, const std::optional<std::string>& column);

}  // namespace segfold
