#pragma once
// Matrix Market's .mtx files as compressed sparse rows.
#include <cstdint>
#include <string>

#include "dsl/array.h"

namespace segfold {

/// A sparse matrix by rows.
struct SparseMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Array offsets;         ///< [rows + 1], i64
    Array column_indices;  ///< [num_entries], from 0; i32 if the number of columns allows, else i64
    Array values;          ///< [num_entries]
};

/// Reads matrices of real, integer or pattern entries, general, symmetric or skew-symmetric, by coordinates
/// or as an array; the file may be packed by gzip.
///
/// Rows keep the file's order of entries; repeated entries stay apart; the missing half of a symmetric matrix
/// follows entry by entry; a pattern's values are 1; rows of an array have all columns, zeros too. Values are
/// given as `value_type`, rounded once; an integer type needs an integer or pattern file. Throws InputError
/// with path and line for anything else.
///
/// Source: R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial Design",
/// NISTIR 5935, 1996.
SparseMatrix read_matrix_market(const std::string& path, Type value_type = Type::f32);

/// True if the file's first line says that its entries are integers, or a pattern. Throws InputError.
bool holds_integers(const std::string& path);

}  // namespace segfold
