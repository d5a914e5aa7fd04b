#pragma once
// NumPy's .npz files: zip archives of .npy files.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// Reads every array of an archive, in the archive's order; stored or deflated, with zip64 where present.
///
/// Throws InputError, path first, for a damaged archive and for a member that `read_npy` would refuse.
std::vector<NamedArray> read_npz(const std::string& path);

/// Reads one array and looks at no other, so that a scipy.sparse file gives its "indptr", "indices" and
/// "data".
Array read_npz_array(const std::string& path, const std::string& name);

/// The names of the arrays, in the archive's order.
std::vector<std::string> npz_names(const std::string& path);

struct NpzOptions {
    bool deflate = false;  ///< compress, as numpy.savez_compressed
    bool zip64 = false;    ///< write the 64-bit records even where 32 bits suffice
};

/// Writes arrays as numpy.savez does; the file appears complete or not at all.
///
/// Throws InputError for an empty or repeated name.
void write_npz(const std::string& path, std::span<const NamedArray> arrays, NpzOptions options = {});

/// The name under which the keys of segments are written beside the fields of results: "keys", where no field
/// has that name, else one that none has.
std::string keys_name(std::span<const ResultField> fields);

/// What "FILE.npz:NAME" means, "FILE.csv:COLUMN", or "-:NAME" and "PIPE:NAME" of an archive that comes
/// through a pipe; other places are a path without a name.
struct ArchivePlace {
    std::string path;
    std::optional<std::string> name;
};
ArchivePlace archive_place(const std::string& place);

/// Reads "FILE.npy", "FILE.npz:NAME" or "FILE.npz" with a single array in it, "FILE.csv:COLUMN" or "FILE.csv"
/// with a single column, or an array that is written out; a pipe or "-", which is
/// standard input, may hold either. Several arrays may be read by their names from one pipe.
Array read_array(const std::string& place);

/// `read_array` whose elements must be of `type`; the same leave for bf16 as `read_npy_as`.
Array read_array_as(const std::string& place, Type type);

/// `read_array_as` of a two-dimensional array in C order, with its Array::row_length(). An array that is
/// written out, such as "[1,2]", is refused.
Array read_rows_as(const std::string& place, Type type);

/// The type of the elements of `read_array(place)`, of which only the header is read.
///
/// What a pipe or "-" gave is kept for the next reader of the same place.
Type read_array_type(const std::string& place);

}  // namespace segfold
