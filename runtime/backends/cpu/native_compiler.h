#pragma once
// Compiles a native text to the bytes of a shared library by the system's compiler, and caches them.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cpu {

/// The kind of file in the cache's folder.
inline constexpr std::string_view kLibraryKind = "library";

/// The system's C++ compiler with the flags of native texts.
class NativeCompiler {
public:
    /// Throws DeviceError without a compiler.
    NativeCompiler();

    /// The compiler and the flags, one after the other.
    [[nodiscard]] const std::vector<std::string>& command() const { return command_; }
    /// The compiler's path and the version that it prints.
    [[nodiscard]] const std::string& identity() const { return identity_; }

    /// The version that it prints, "g++ (Debian 12.2.0-14+deb12u1) 12.2.0".
    [[nodiscard]] const std::string& version() const { return version_; }

    /// Whether it knows _Float16 and the processor converts it. bfloat16 has no such thing: the conversions
    /// of processors take small numbers for 0.
    [[nodiscard]] bool has_f16_conversions() const;

    /// Digest of the text, the compiler, the flags and the processor.
    [[nodiscard]] std::string key(std::string_view source) const;
    /// The shared library of `source`. Throws DeviceError with the compiler's log and the path of a copy of
    /// the text.
    [[nodiscard]] std::string compile(std::string_view source) const;

private:
    std::vector<std::string> command_;
    std::string identity_, version_;
};

/// The shared library of `source`, from the cache's folder if it is there. A damaged file counts as absent.
///
/// Sets `was_compiled` if the compiler ran.
std::string library_of(std::string_view source, const NativeCompiler& compiler, bool& was_compiled);

/// A file of the cache's folder.
struct StoredLibrary {
    std::string name;      ///< of the text that was compiled: "lane_scan.cpp"
    std::string compiler;  ///< the version that it prints
    double seconds = 0;    ///< that it took
    std::string library;   ///< the bytes of the shared library
};

/// The library of a file. Throws InputError that says why it is not one.
[[nodiscard]] StoredLibrary unseal_library(std::string_view bytes);

/// Why libraries are not kept: told once, then nothing.
[[nodiscard]] std::optional<std::string> take_library_note();

/// The processor's model and abilities, as the system lists them.
[[nodiscard]] std::string processor_identity();

}  // namespace segfold::cpu
