#pragma once
// Reads files with or without compression by gzip.
#include <cstdint>
#include <limits>
#include <string>

namespace segfold {

class InputFile;

/// True if the file begins with gzip's magic number. The name does not matter.
[[nodiscard]] bool is_gzip(const InputFile& file);

/// Returns the first `most` bytes of a file, inflated if the file is compressed by gzip. Throws InputError if
/// these bytes are damaged or truncated in the compressed file.
///
/// Source: P. Deutsch, "GZIP file format specification version 4.3", RFC 1952, 1996.
[[nodiscard]] std::string read_text(const InputFile& file,
                                    std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace segfold
