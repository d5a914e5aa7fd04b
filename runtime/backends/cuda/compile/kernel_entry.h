#pragma once
// Stores a compiled program as one self-contained file.
#include <string>
#include <string_view>

#include "runtime/backends/cuda/compile/compile.h"

namespace segfold::cuda {

/// Contents of a file in the kernel cache: a compiled program with the facts that identify it.
struct KernelEntry {
    std::string key;           ///< 64 hexadecimal digits
    std::string name;          ///< name of the first program compiled under this key: "tile_scan.cu"
    std::string architecture;  ///< "sm_90"
    std::string compiler;      ///< NVRTC's version with its build
    Compiled compiled;
};

/// Returns the file's bytes: magic, format, lengths, a JSON header, the image, and the SHA-256 of everything
/// before.
[[nodiscard]] std::string encode(const KernelEntry& entry);

/// Reads a file's bytes. Throws InputError if their length, magic, format, checksum or header is wrong.
[[nodiscard]] KernelEntry decode_entry(std::string_view bytes);

}  // namespace segfold::cuda
