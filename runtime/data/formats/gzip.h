#pragma once
// Files that may be packed by gzip.
#include <cstdint>
#include <limits>
#include <string>

namespace segfold {

class InputFile;

/// True for a file that begins as gzip's do, whatever its name.
[[nodiscard]] bool is_gzip(const InputFile& file);

/// The first `most` bytes of a file, those that it inflates to where it is packed by gzip. Throws InputError
/// for a packed file that is damaged or truncated there.
///
/// Source: P. Deutsch, "GZIP file format specification version 4.3", RFC 1952, 1996.
[[nodiscard]] std::string read_text(const InputFile& file,
                                    std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace segfold
