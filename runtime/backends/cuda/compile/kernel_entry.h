#pragma once
// A compiled program as one self-contained file.
#include <string>
#include <string_view>

#include "runtime/backends/cuda/compile/compile.h"

namespace segfold::cuda {

/// A file of the kernel cache.
struct KernelEntry {
    std::string key;           ///< 64 hexadecimal digits
    std::string name;          ///< of the program that was compiled first under this key: "tile_scan.cu"
    std::string architecture;  ///< "sm_90"
    std::string compiler;      ///< NVRTC's version with its build
    Compiled compiled;
};

/// The file's bytes: magic and format, lengths, a header in JSON, the image, and the SHA-256 of all before.
[[nodiscard]] std::string encode(const KernelEntry& entry);

/// Throws InputError for a wrong length, magic, format, checksum or header.
[[nodiscard]] KernelEntry decode_entry(std::string_view bytes);

}  // namespace segfold::cuda
