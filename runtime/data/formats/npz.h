#pragma once
// NumPy's .npz files: zip archives of .npy files.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// The names of an archive's arrays, in its order. Throws InputError, path first, for a damaged archive.
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

/// The path and the name in "FILE.npz:NAME" and "FILE.csv:COLUMN", and in "-:NAME" and "PIPE:NAME" for an
/// archive that comes through a pipe; other places are a path without a name.
struct ArchivePlace {
    std::string path;
    std::optional<std::string> name;
};
ArchivePlace archive_place(const std::string& place);

/// Reads "FILE.npy", "FILE.npz:NAME" or "FILE.npz" with a single array in it, "FILE.csv:COLUMN" or "FILE.csv"
/// with a single column, or an array that is written out.
///
/// Members of archives are stored or deflated, with zip64 or without; only NAME is looked at. A pipe or "-",
/// which is standard input, may hold any of these, and is read for several names. Throws InputError, place
/// first.
Array read_array(const std::string& place);

/// `read_array` whose elements must be of `type`; bf16 is read as read_open_npy() reads it.
Array read_array_as(const std::string& place, Type type);

/// `read_array_as` of a two-dimensional array in C order, with its Array::row_length(). An array that is
/// written out, such as "[1,2]", is refused.
Array read_rows_as(const std::string& place, Type type);

/// The type of the elements of `read_array(place)`, of which only the header is read.
///
/// Bytes of a pipe or "-" are kept for the next reader of the same place.
Type read_array_type(const std::string& place);

}  // namespace segfold
