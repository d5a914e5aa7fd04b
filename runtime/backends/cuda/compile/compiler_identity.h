#pragma once
// Which NVRTC compiles here, known again without opening it.
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cuda {

/// An NVRTC, as far as what it compiles depends on it.
struct CompilerIdentity {
    std::string version;             ///< with the build: "13.0.88, CL-36424714"
    std::vector<int> architectures;  ///< 75, 80, ...: what it compiles for, in order
    std::string path;                ///< of the library
    std::string file;                ///< what tells this file from another one at the path

    bool operator==(const CompilerIdentity&) const = default;
};

/// Opens NVRTC and asks it. The build stands in what it compiles only, so that it costs about 20 ms more.
///
/// Throws DeviceError where there is none.
[[nodiscard]] CompilerIdentity ask_compiler(bool with_build);

inline constexpr std::string_view kNoFile = "none";

/// Device, number, size and time of what lies at `path` now, or kNoFile.
[[nodiscard]] std::string file_identity(const std::string& path);

/// What decides which NVRTC would be opened: the places of the search, the files there, the loader's cache
/// and path, the driver's CUDA version. Nothing is opened for it but the driver's library.
[[nodiscard]] std::string compiler_search();

/// A record of an identity as bytes with a checksum.
[[nodiscard]] std::string encode(const CompilerIdentity& identity);

/// Throws InputError saying what is wrong with `bytes`.
[[nodiscard]] CompilerIdentity decode_identity(std::string_view bytes);

}  // namespace segfold::cuda
