#pragma once
// Loads compiled native texts and calls their kernels.
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "codegen/emit.h"

namespace segfold::cpu {

/// A kernel of a native text. Its first parameter is the index of a part of the work; the addresses of its
/// arguments follow.
class Kernel {
public:
    explicit Kernel(void* entry = nullptr) : entry_(entry) {}

    /// Runs the kernel on part `part` of the work. `arguments` may have at most kMostArguments entries.
    void run(std::int64_t part, std::span<void* const> arguments) const;

    static constexpr std::size_t kMostArguments = 12;

private:
    void* entry_;
};

/// A loaded shared library.
class Module {
public:
    /// Returns the program of a text. Takes it from memory or from the cache on disk, or compiles the text.
    /// Throws DeviceError if there is no compiler or if the text does not compile.
    static std::shared_ptr<const Module> of(const Emitted& emitted);

    /// Returns the expected seconds of compiling in of(); 0 if the program is loaded or in the cache.
    [[nodiscard]] static double seconds_to_compile(const Emitted& emitted);

    /// Loads the bytes of a shared library. Throws DeviceError if they cannot be loaded.
    explicit Module(const std::string& library);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Returns the kernel `name`. Throws InternalError if the text does not have it.
    [[nodiscard]] Kernel kernel(const std::string& name) const;
    /// Seconds for which the compiler ran in this process; 0 if it did not run.
    [[nodiscard]] double compile_seconds() const { return compile_seconds_; }

private:
    void* handle_ = nullptr;
    double compile_seconds_ = 0;
};

/// Returns the reason why this machine has no compiler; empty if it has one.
[[nodiscard]] const std::string& reason_without_compiler();
/// Returns the properties of compiler and processor on which texts may rely.
[[nodiscard]] Target native_target();
/// Returns the compiler's version line; "none" if there is no compiler.
[[nodiscard]] std::string compiler_version();

}  // namespace segfold::cpu
