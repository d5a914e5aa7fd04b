#pragma once
// A native text as functions that can be called.
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "codegen/emit.h"

namespace segfold::cpu {

/// A kernel of a native text: the number of a part of the work, then the arguments by address.
class NativeKernel {
public:
    explicit NativeKernel(void* entry = nullptr) : entry_(entry) {}

    /// `arguments` are at most kMostArguments.
    void run(std::int64_t part, std::span<void* const> arguments) const;

    static constexpr std::size_t kMostArguments = 12;

private:
    void* entry_;
};

/// A loaded shared library.
class NativeProgram {
public:
    /// Compiles the text, unless the cache or this process has it. Throws DeviceError without a compiler, or
    /// if the text does not compile.
    static std::shared_ptr<const NativeProgram> of(const Emitted& emitted);

    /// Loads the bytes of a shared library. Throws DeviceError.
    explicit NativeProgram(const std::string& library);
    ~NativeProgram();
    NativeProgram(const NativeProgram&) = delete;
    NativeProgram& operator=(const NativeProgram&) = delete;

    /// Throws InternalError for a kernel that the text does not have.
    [[nodiscard]] NativeKernel kernel(const std::string& name) const;
    /// Seconds that the compiler ran in this process; 0 if it did not.
    [[nodiscard]] double compile_seconds() const { return compile_seconds_; }

private:
    void* handle_ = nullptr;
    double compile_seconds_ = 0;
};

/// Why there is no compiler; "" if there is one.
[[nodiscard]] const std::string& reason_without_compiler();
/// Abilities of the compiler and this processor that texts may use.
[[nodiscard]] Target native_target();
/// The compiler's version; "none" without one.
[[nodiscard]] std::string compiler_version();

}  // namespace segfold::cpu
