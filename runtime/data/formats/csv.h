#pragma once
// Columns of .csv files: a line of names, then a line for each row, as spreadsheets and data frames write
// them.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/array.h"

namespace segfold {

/// True for the name of a file of comma-separated values, which gzip may have packed: "x.csv", "x.csv.gz".
[[nodiscard]] bool is_csv_file(std::string_view path);

/// Reads the column of that name as `type`; a file of one column needs no name.
///
/// A blank cell, or an empty line of a file of one column, is NaN. Throws InputError, path first, for a blank
/// where the type has no NaN, for text, quoted or not, for numbers that the type does not hold, for a row
/// with more or fewer cells than the line of names, and for quotes that do not end.
///
/// Source: Y. Shafranovich, "Common Format and MIME Type for Comma-Separated Values (CSV) Files", RFC 4180,
/// 2005.
Array read_csv_column(const std::string& path, const std::optional<std::string>& column, Type type);

/// The type that the cells of a column fit: bool for true and false alone, i64 or u64 for integers without a
/// blank, else f64.
Type csv_column_type(const std::string& path, const std::optional<std::string>& column);

}  // namespace segfold
