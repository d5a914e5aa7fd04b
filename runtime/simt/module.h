#pragma once
// A text compiled for the CPU and loaded into the process.
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/simt/program.h"
#include "runtime/simt/symbols.h"

struct SegfoldHooks;

namespace segfold::simt {

/// Most dynamic shared memory, in bytes, that a launch may request. It is the limit of a block on a Hopper
/// GPU.
constexpr unsigned kMaxDynamicSharedBytes = 227 * 1024;

/// Calls a kernel. Each element of `arguments` points at the value of one parameter.
using KernelEntry = void (*)(void** arguments);

/// A loaded library with the kernels of one text. The last owner unloads it and removes its file.
class Module {
public:
    struct Kernel {
        KernelEntry entry = nullptr;
        unsigned parameters = 0;
        unsigned cluster_blocks = 1;  ///< number of blocks along x; 0 if the cluster has more dimensions
    };

    /// Loads the file `library`. Error messages call the text `text_name`.
    Module(std::string library, std::string text_name, std::span<const std::string> kernels, bool checked);
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    ~Module();

    /// Returns the kernel called `name`. If there is none, throws InputError that lists the kernels.
    [[nodiscard]] const Kernel& kernel(const std::string& name) const;
    [[nodiscard]] const std::map<std::string, Kernel>& kernels() const { return kernels_; }
    /// True if the module reports its memory accesses to the executor.
    [[nodiscard]] bool checked() const { return checked_; }
    [[nodiscard]] const Symbols& symbols() const { return symbols_; }
    /// Returns the calling OS thread's copy of the shared arrays.
    [[nodiscard]] std::byte* shared_memory() const;
    /// Returns the address at which the file's address 0 is loaded.
    [[nodiscard]] std::uintptr_t base() const { return base_; }
    /// True if `address` lies in the library's own memory: code, constants or global variables.
    [[nodiscard]] bool owns(std::uintptr_t address) const { return address - base_ < mapped_bytes_; }
    /// Returns the lines for addresses in the library's file, as find_lines() does.
    [[nodiscard]] std::vector<std::vector<int>> lines(std::span<const std::uint64_t> addresses) const;

private:
    [[nodiscard]] void* find(const std::string& symbol) const;

    std::string library_;
    std::string text_name_;
    bool checked_;
    void* handle_ = nullptr;
    Symbols symbols_;
    std::map<std::string, Kernel> kernels_;
    std::uintptr_t base_ = 0;
    std::size_t mapped_bytes_ = 0;
    void* (*anchor_address_)() = nullptr;
    std::uint64_t anchor_place_ = 0;
};

/// Returns the functions of the executor for modules to call.
const SegfoldHooks& executor_hooks();

/// Compiles and loads a text. If an equal text was compiled with equal options, returns that module.
std::shared_ptr<const Module> compile_module(const std::string& source, std::span<const std::string> kernels,
                                             const CompileOptions& options);

}  // namespace segfold::simt
