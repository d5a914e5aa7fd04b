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

/// Most dynamic shared memory of a launch: that of a block on Hopper.
constexpr unsigned kMaxDynamicSharedBytes = 227 * 1024;

/// Calls a kernel with its arguments, each given by the address of its value.
using KernelEntry = void (*)(void** arguments);

/// A loaded library with one text's kernels. Unloaded, and its file removed, with the last user.
class Module {
public:
    struct Kernel {
        KernelEntry entry = nullptr;
        unsigned parameters = 0;
        unsigned cluster_blocks = 1;  ///< 0: of more than one dimension
    };

    /// Loads `library`, compiled from the text called `text_name` in error messages.
    Module(std::string library, std::string text_name, std::span<const std::string> kernels, bool checked);
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    ~Module();

    /// The kernel called `name`. Throws InputError that lists the others.
    [[nodiscard]] const Kernel& kernel(const std::string& name) const;
    [[nodiscard]] const std::map<std::string, Kernel>& kernels() const { return kernels_; }
    /// Whether its memory accesses report to the executor.
    [[nodiscard]] bool checked() const { return checked_; }
    [[nodiscard]] const Symbols& symbols() const { return symbols_; }
    /// The calling OS thread's copy of the shared arrays.
    [[nodiscard]] std::byte* shared_memory() const;
    /// Where the file's address 0 is loaded.
    [[nodiscard]] std::uintptr_t base() const { return base_; }
    /// The library's own memory: code, constants, global variables.
    [[nodiscard]] bool owns(std::uintptr_t address) const { return address - base_ < mapped_bytes_; }
    /// As find_lines() says, of addresses in the file.
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

/// Functions that every module calls; defined with the executor.
const SegfoldHooks& executor_hooks();

/// Compiles and loads a text, or finds the module made of an equal text before.
std::shared_ptr<const Module> compile_module(const std::string& source, std::span<const std::string> kernels,
                                             const CompileOptions& options);

}  // namespace segfold::simt
