#pragma once
// NumPy's .npz files: zip archives of .npy files.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// Returns the names of an archive's arrays, in the archive's order. Throws InputError that begins with the
/// path if the archive is damaged.
std::vector<std::string> npz_names(const std::string& path);

struct NpzOptions {
    bool deflate = false;  ///< compress, as numpy.savez_compressed
    bool zip64 = false;    ///< write the 64-bit records even where 32 bits suffice
};

/// Writes arrays as numpy.savez does; the file appears complete or not at all.
///
/// Throws InputError for an empty or repeated name.
void write_npz(const std::string& path, std::span<const NamedArray> arrays, NpzOptions options = {});

/// Returns the name of the array of segment keys in an archive of results: "keys", or a longer name if a
/// result field is called so.
std::string keys_name(std::span<const ResultField> fields);

/// The path and the name in "FILE.npz:NAME", "FILE.csv:COLUMN", or, for an archive from a pipe, "-:NAME" and
/// "PIPE:NAME". Any other place is a path without a name.
struct ArchivePlace {
    std::string path;
    std::optional<std::string> name;
};
ArchivePlace archive_place(const std::string& place);

/// Reads the array at a place: "FILE.npy", "FILE.npz:NAME", "FILE.npz" with a single array,
/// "FILE.csv:COLUMN", "FILE.csv" with a single column, or an array written out as text.
///
/// Members of archives are stored or deflated, with zip64 or without; only member NAME is read. A pipe or "-"
/// (standard input) may hold an .npy or .npz file. If NAME is given, the pipe's bytes are kept, so later
/// calls may read other members. Throws InputError that begins with the place.
Array read_array(const std::string& place);

/// Reads an array as read_array() does; its elements must be of `type`. For bf16 see read_open_npy().
Array read_array_as(const std::string& place, Type type);

/// Reads a two-dimensional array in C order as read_array_as() does, and sets its Array::row_length(). Throws
/// InputError for an array written out as text, such as "[1,2]".
Array read_rows_as(const std::string& place, Type type);

/// Reads the type of the elements of read_array(place), from the header alone.
///
/// Bytes of a pipe or "-" are kept for the next reader of the same place.
Type read_array_type(const std::string& place);

}  // namespace segfold
