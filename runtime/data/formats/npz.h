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
    bool deflate = false;  ///< true to compress, like numpy.savez_compressed
    bool zip64 = false;    ///< true to write 64-bit records even if 32 bits suffice
};

/// Writes arrays like numpy.savez. The file appears complete or not at all.
///
/// Throws InputError for an empty or repeated name.
void write_npz(const std::string& path, std::span<const NamedArray> arrays, NpzOptions options = {});

/// Returns the name of the array of segment keys in an archive of results. It is "keys", or a longer name if
/// a result field is called "keys".
std::string keys_name(std::span<const ResultField> fields);

/// The parts of "FILE.npz:NAME", "FILE.csv:COLUMN", or, for an archive from a pipe, "-:NAME" and "PIPE:NAME".
/// Any other text is a path without a name.
struct ArchivePlace {
    std::string path;
    std::optional<std::string> name;
};
ArchivePlace archive_place(const std::string& place);

/// Reads the array that `place` names.
///
/// `place` is "FILE.npy", "FILE.npz:NAME", "FILE.npz" with a single array, "FILE.csv:COLUMN", "FILE.csv" with
/// a single column, or a short array written as text, such as "[1,2]".
///
/// Members of archives are stored or deflated, with or without zip64; only member NAME is read. A pipe or "-"
/// (standard input) may hold an .npy or .npz file. If NAME is given, the bytes of the pipe are kept, so that
/// later calls can read other members. Throws InputError that begins with `place`.
Array read_array(const std::string& place);

/// Reads an array like read_array(). Its elements must be of `type`. For bf16 see read_open_npy().
Array read_array_as(const std::string& place, Type type);

/// Reads a two-dimensional array in C order like read_array_as(), and sets its Array::row_length(). Throws
/// InputError for an array written as text, such as "[1,2]".
Array read_rows_as(const std::string& place, Type type);

/// Reads the type of the elements of read_array(place). Reads only the header.
///
/// The bytes of a pipe or "-" are kept for the next reader of the same place.
Type read_array_type(const std::string& place);

}  // namespace segfold
