#pragma once
// Compiles native texts (emitted C++) to shared libraries with the system's compiler, and caches them.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cpu {

/// The ending of the file names of libraries in the cache.
inline constexpr std::string_view kLibraryKind = "library";

/// The system's C++ compiler with the flags that compile native texts.
class NativeCompiler {
public:
    /// Throws DeviceError if there is no compiler.
    NativeCompiler();

    /// Returns the words of the command: the compiler, then the flags.
    [[nodiscard]] const std::vector<std::string>& command() const { return command_; }
    /// Returns the compiler's path and its version line.
    [[nodiscard]] const std::string& identity() const { return identity_; }

    /// Returns the compiler's version line, such as "g++ (Debian 12.2.0-14+deb12u1) 12.2.0".
    [[nodiscard]] const std::string& version() const { return version_; }

    /// True if the compiler knows _Float16 and the processor has instructions that convert it. Instructions
    /// that convert bfloat16 are never used, because they flush small numbers to 0.
    [[nodiscard]] bool has_f16_conversions() const;

    /// Returns a digest of everything on which the library depends: text, compiler, flags, processor.
    [[nodiscard]] std::string key(std::string_view source) const;
    /// Compiles `source` and returns the shared library's bytes. If `source` does not compile, throws
    /// DeviceError with the compiler's log and the path of a kept copy of the text.
    [[nodiscard]] std::string compile(std::string_view source) const;

private:
    std::vector<std::string> command_;
    std::string identity_, version_;
};

/// Returns the shared library of `source`, from the cache if possible. Treats a damaged file as missing. Sets
/// `was_compiled` to true if the compiler had to run.
std::string library_of(std::string_view source, const NativeCompiler& compiler, bool& was_compiled);

/// True if the cache has a library of `source`.
[[nodiscard]] bool is_kept(std::string_view source, const NativeCompiler& compiler);

/// Contents of a library file in the cache's folder.
struct StoredLibrary {
    std::string name;      ///< file name of the compiled text, such as "lane_scan.cpp"
    std::string compiler;  ///< the compiler's version line
    double seconds = 0;    ///< seconds of the compilation
    std::string library;   ///< the bytes of the shared library
};

/// Reads a library file. Throws InputError with the reason if the file is damaged.
[[nodiscard]] StoredLibrary unseal_library(std::string_view bytes);

/// Returns the reason why libraries cannot be stored. Returns nothing if they can be stored, or if an earlier
/// call returned the reason.
[[nodiscard]] std::optional<std::string> take_library_note();

/// Returns the processor's model and features as the system lists them.
[[nodiscard]] std::string processor_identity();

}  // namespace segfold::cpu
