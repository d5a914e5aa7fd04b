#pragma once
// Which NVRTC compiles here, known again without opening it.
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cuda {

/// An NVRTC: all about it that its output depends on.
struct CompilerIdentity {
    std::string version;             ///< with the build: "13.0.88, CL-36424714"
    std::vector<int> architectures;  ///< the architectures that it compiles for, ascending: 75, 80, ...
    std::string path;                ///< of the library
    std::string file;                ///< tells this file from another one at the path

    bool operator==(const CompilerIdentity&) const = default;
};

/// Opens NVRTC and asks it. The build number stands only in compiled text, so that asking takes about 20 ms
/// more.
///
/// Throws DeviceError without an NVRTC.
[[nodiscard]] CompilerIdentity ask_compiler(bool with_build);

inline constexpr std::string_view kNoFile = "none";

/// Device, number, size and time of the file at `path` now, or kNoFile.
[[nodiscard]] std::string file_identity(const std::string& path);

/// All that decides which NVRTC would be opened: the places of the search, the files there, the loader's
/// cache and path, the driver's CUDA version. Opens the driver's library alone.
[[nodiscard]] std::string compiler_search();

/// A record of an identity as bytes with a checksum.
[[nodiscard]] std::string encode(const CompilerIdentity& identity);

/// Throws InputError that says why `bytes` are none.
[[nodiscard]] CompilerIdentity decode_identity(std::string_view bytes);

}  // namespace segfold::cuda
