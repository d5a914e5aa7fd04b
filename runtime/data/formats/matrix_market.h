#pragma once
// Reads Matrix Market's .mtx files as compressed sparse rows.
#include <cstdint>
#include <string>

#include "dsl/array.h"

namespace segfold {

/// A sparse matrix in compressed sparse rows.
struct SparseMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Array offsets;         ///< [rows + 1], i64
    Array column_indices;  ///< [num_entries], from 0 on; i32 if all columns fit, else i64
    Array values;          ///< [num_entries]
};

/// Reads a matrix of real, integer or pattern entries. The matrix may be general, symmetric or
/// skew-symmetric, in coordinate or array format, and compressed by gzip.
///
/// The entries of a row keep the file's order, and repeated entries stay separate. A mirrored entry of a
/// symmetric matrix follows directly after its entry. The values of a pattern are 1. Rows in array format
/// have all columns, even zeros. Values are rounded once to `value_type`; an integer type needs an integer or
/// pattern file. Throws InputError with path and line for any other file.
///
/// Source: R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial Design",
/// NISTIR 5935, 1996.
SparseMatrix read_matrix_market(const std::string& path, Type value_type = Type::f32);

/// True if the file's first line declares integer or pattern entries. Throws InputError if the file cannot be
/// read or the line is malformed.
bool holds_integers(const std::string& path);

}  // namespace segfold
