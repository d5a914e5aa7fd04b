#pragma once
// Identifies the NVRTC that compiles on this machine, without opening it if possible.
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cuda {

/// The properties of an NVRTC that compiled code depends on.
struct CompilerIdentity {
    std::string version;             ///< with the build: "13.0.88, CL-36424714"
    std::vector<int> architectures;  ///< the architectures it compiles for, ascending: 75, 80, ...
    std::string path;                ///< path of the library
    std::string file;                ///< distinguishes this file from another at the same path

    bool operator==(const CompilerIdentity&) const = default;
};

/// Opens NVRTC and asks for its identity. The build can only be read from compiled code, which takes about 20
/// ms more.
///
/// Throws DeviceError if there is no NVRTC.
[[nodiscard]] CompilerIdentity ask_compiler(bool with_build);

inline constexpr std::string_view kNoFile = "none";

/// Returns device, inode, size and time of the file at `path`, or kNoFile.
[[nodiscard]] std::string file_identity(const std::string& path);

/// Returns everything that decides which NVRTC would be opened: the places to search, the files there, the
/// loader's cache and path, the driver's CUDA version. Opens only the driver's library.
[[nodiscard]] std::string compiler_search();

/// Returns the identity as bytes with a checksum.
[[nodiscard]] std::string encode(const CompilerIdentity& identity);

/// Reads the bytes of encode(). Throws InputError that says what is wrong with them.
[[nodiscard]] CompilerIdentity decode_identity(std::string_view bytes);

}  // namespace segfold::cuda
