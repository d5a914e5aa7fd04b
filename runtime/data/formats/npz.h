#pragma once
// Reads and writes NumPy's .npz files: zip archives of .npy files.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// Reads every array of an archive, in the archive's order. Members may be stored or deflated, and may use
/// zip64.
///
/// Throws InputError, path first, for a damaged archive, and for a member that read_npy() would refuse.
std::vector<NamedArray> read_npz(const std::string& path);

/// Reads a single array and ignores the others. A scipy.sparse file thus gives its "indptr", "indices" and
/// "data".
Array read_npz_array(const std::string& path, const std::string& name);

/// Names of the arrays in the archive's order.
std::vector<std::string> npz_names(const std::string& path);

struct NpzOptions {
    bool deflate = false;  ///< compress, as numpy.savez_compressed does
    bool zip64 = false;    ///< write 64-bit records even if 32 bits suffice
};

/// Writes arrays as numpy.savez does; the file appears complete or not at all.
///
/// Throws InputError for an empty or repeated name.
void write_npz(const std::string& path, std::span<const NamedArray> arrays, NpzOptions options = {});

/// Name under which the keys of segments are written beside the fields of results: "keys", or another unused
/// name if a field is called so.
std::string keys_name(std::span<const ResultField> fields);

/// Parts of "FILE.npz:NAME", "FILE.csv:COLUMN", or "-:NAME" and "PIPE:NAME" for an archive from a pipe. Any
/// other text is a path without a name.
struct ArchivePlace {
    std::string path;
    std::optional<std::string> name;
};
ArchivePlace archive_place(const std::string& place);

/// Reads an array from "FILE.npy", "FILE.npz:NAME", "FILE.npz" with a single array, "FILE.csv:COLUMN",
/// "FILE.csv" with a single column, or a written-out list. A pipe, or "-" for standard input, may hold an
/// .npy or .npz file. Several named arrays may be read from one pipe.
Array read_array(const std::string& place);

/// Reads an array whose elements must be of `type`. bf16 follows the rule of read_npy_as().
Array read_array_as(const std::string& place, Type type);

/// Reads a two-dimensional array in C order, whose elements must be of `type`, with its Array::row_length().
/// Refuses a written-out list such as "[1,2]".
Array read_rows_as(const std::string& place, Type type);

/// Returns the type of the elements of read_array(place), for which only the header is read.
///
/// Bytes read from a pipe or "-" are kept for the next reader of the same place.
Type read_array_type(const std::string& place);

}  // namespace segfold
