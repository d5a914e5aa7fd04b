#pragma once
// Identifies the NVRTC of this machine, without opening it if possible.
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cuda {

/// The properties of an NVRTC on which compiled code depends.
struct CompilerIdentity {
    std::string version;             ///< version with build, such as "13.0.88, CL-36424714"
    std::vector<int> architectures;  ///< the supported architectures, ascending: 75, 80, ...
    std::string path;                ///< path of the library
    std::string file;                ///< file_identity() of the library, which changes with the file

    bool operator==(const CompilerIdentity&) const = default;
};

/// Opens NVRTC and returns its identity. If `with_build` is true, the version includes the build; that takes
/// about 20 ms more, because only compiled code tells the build.
///
/// Throws DeviceError if there is no NVRTC.
[[nodiscard]] CompilerIdentity ask_compiler(bool with_build);

inline constexpr std::string_view kNoFile = "none";

/// Returns device, inode, size and time of the file at `path`; kNoFile if there is no such file.
[[nodiscard]] std::string file_identity(const std::string& path);

/// Returns everything on which the choice of an NVRTC depends: the searched places, the files in them, the
/// loader's cache and path, and the driver's CUDA version. Opens only the driver's library.
[[nodiscard]] std::string compiler_search();

/// Returns the identity as bytes with a checksum.
[[nodiscard]] std::string encode(const CompilerIdentity& identity);

/// Reads the bytes of encode(). Throws InputError with the reason if they are damaged.
[[nodiscard]] CompilerIdentity decode_identity(std::string_view bytes);

}  // namespace segfold::cuda
