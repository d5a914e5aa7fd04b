#pragma once
// From a native text to the bytes of a shared library: the system's compiler, and the cache of what it made.
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
    /// Throws DeviceError where there is no compiler.
    NativeCompiler();

    /// The compiler and the flags, one after the other.
    [[nodiscard]] const std::vector<std::string>& command() const { return command_; }
    /// The compiler's path and what it says of itself.
    [[nodiscard]] const std::string& identity() const { return identity_; }

    /// "g++ (Debian 12.2.0-14+deb12u1) 12.2.0": what it says of itself.
    [[nodiscard]] const std::string& version() const { return version_; }

    /// Whether it knows _Float16 and the processor converts it. bfloat16 has no such thing: the conversions
    /// of processors take small numbers for 0.
    [[nodiscard]] bool has_f16_conversions() const;

    /// What compiling `source` depends on, as a digest: the text, the compiler, the flags, the processor.
    [[nodiscard]] std::string key(std::string_view source) const;
    /// The shared library of `source`. Throws DeviceError with the compiler's log, which names a kept copy of
    /// the text.
    [[nodiscard]] std::string compile(std::string_view source) const;

private:
    std::vector<std::string> command_;
    std::string identity_, version_;
};

/// The shared library of `source`, from the cache's folder where it is there; a damaged file counts as none.
///
/// `was_compiled` tells whether the compiler ran.
std::string library_of(std::string_view source, const NativeCompiler& compiler, bool& was_compiled);

/// What a file of the cache's folder holds.
struct StoredLibrary {
    std::string name;      ///< of the text that was compiled: "lane_scan.cpp"
    std::string compiler;  ///< what it says of itself
    double seconds = 0;    ///< that it took
    std::string library;   ///< the bytes of the shared library
};

/// The library of a file. Throws InputError saying what is wrong with it.
[[nodiscard]] StoredLibrary unseal_library(std::string_view bytes);

/// Why libraries are not kept, once; nothing where they are, or after it was said.
[[nodiscard]] std::optional<std::string> take_library_note();

/// The model of the processor and what it can do, as the system lists it.
[[nodiscard]] std::string processor_identity();

}  // namespace segfold::cpu
