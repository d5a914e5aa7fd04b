#pragma once
// Reads columns of .csv files, as spreadsheets and data frames write them: a line of names, then a line for
// each row.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/array.h"

namespace segfold {

/// True for the name of a .csv file, with or without compression by gzip: "x.csv", "x.csv.gz".
[[nodiscard]] bool is_csv_file(std::string_view path);

/// Reads the column called `column` as `type`. A file of one column needs no name.
///
/// A blank cell is NaN, and so is an empty line in a file of one column. Throws InputError that begins with
/// the path: for a blank if the type has no NaN, for text, quoted or not, for numbers beyond the type, for a
/// row with more or fewer cells than the line of names, and for unclosed quotes.
///
/// Source: Y. Shafranovich, "Common Format and MIME Type for Comma-Separated Values (CSV) Files", RFC 4180,
/// 2005.
Array read_csv_column(const std::string& path, const std::optional<std::string>& column, Type type);

/// Returns the type for the cells of a column: bool if all are true or false, i64 or u64 if all are integers
/// without a blank, else f64.
Type csv_column_type(const std::string& path, const std::optional<std::string>& column);

}  // namespace segfold
