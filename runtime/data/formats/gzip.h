#pragma once
// Reads files with or without compression by gzip.
#include <cstdint>
#include <limits>
#include <string>

namespace segfold {

class InputFile;

/// True if the file begins with gzip's magic number, whatever its name.
[[nodiscard]] bool is_gzip(const InputFile& file);

/// Returns the first `most` bytes of a file, inflated if gzip compressed it. Throws InputError if the
/// compressed data of these bytes are damaged or truncated.
///
/// Source: P. Deutsch, "GZIP file format specification version 4.3", RFC 1952, 1996.
[[nodiscard]] std::string read_text(const InputFile& file,
                                    std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace segfold
