#pragma once
// Stores a compiled program as one self-contained file.
#include <string>
#include <string_view>

#include "runtime/backends/cuda/compile/compile.h"

namespace segfold::cuda {

/// Contents of a file in the kernel cache: a compiled program, and the facts that identify it.
struct KernelEntry {
    std::string key;           ///< kernel_key(): 64 hexadecimal digits
    std::string name;          ///< name of the first program with this key, such as "tile_scan.cu"
    std::string architecture;  ///< such as "sm_90"
    std::string compiler;      ///< NVRTC's version with its build
    Compiled compiled;
};

/// Returns the file's bytes: magic, format, lengths, a JSON header, the image, and the SHA-256 of all these.
[[nodiscard]] std::string encode(const KernelEntry& entry);

/// Reads a file's bytes. Throws InputError if length, magic, format, checksum or header are invalid.
[[nodiscard]] KernelEntry decode_entry(std::string_view bytes);

}  // namespace segfold::cuda
