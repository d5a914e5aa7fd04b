#pragma once
// Compiled programs kept on disk from one process to the next.
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/compile/compiler_identity.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"

namespace segfold::cuda {

/// The kinds of file in the folder of a kernel cache.
inline constexpr std::string_view kKernelKind = "kernel";
inline constexpr std::string_view kCompilerKind = "nvrtc";

/// The digest of all that a compiled image depends on: the format of the entries, source, options in order,
/// architecture, and NVRTC's version with its build. Not the driver, no paths, not the program's name.
[[nodiscard]] std::string kernel_key(const CompileRequest& request, std::string_view compiler_version);

/// True if kernel_key() covers all that the image depends on.
///
/// False for a source that includes or asks for files or the time, and for options that are not known to name
/// none: such a program is compiled every time.
[[nodiscard]] bool is_self_contained(const CompileRequest& request);

/// Programs compiled by this or another process, loaded without opening NVRTC.
///
/// An entry that is damaged, of another format or of another name is compiled anew and replaced. No lock is
/// held during a compilation or across processes; two that compile the same write the same. A folder that
/// cannot be used is a note, not an error.
class KernelCache {
public:
    explicit KernelCache(const cache::Settings& settings);

    /// The program from the disk, or compiled and kept. Throws DeviceError as compile() does.
    [[nodiscard]] Compiled get(const CompileRequest& request);

    /// The program from the disk; nothing if it is not there. Throws DeviceError as compiler() does.
    [[nodiscard]] std::optional<Compiled> load(const CompileRequest& request);

    /// The NVRTC that compiles here. It is opened only if the disk has no record of it.
    ///
    /// If none can be opened, the one whose record was used last: its kernels can still be loaded. Throws
    /// DeviceError if there is neither.
    [[nodiscard]] CompilerIdentity compiler();

    /// Why kernels are not kept: told once, then nothing.
    [[nodiscard]] std::optional<std::string> take_note();

    struct Counts {
        std::size_t loaded = 0;    ///< from the disk
        std::size_t compiled = 0;  ///< for want of an entry
        std::size_t damaged = 0;   ///< entries that were there and could not be trusted
    };
    [[nodiscard]] Counts counts() const;

private:
    void identify();
    void record_open_compiler();
    [[nodiscard]] std::string record_name() const;
    [[nodiscard]] bool is_kept(const CompileRequest& request) const;
    [[nodiscard]] std::optional<Compiled> find(const CompileRequest& request, const std::string& key);
    void keep(const CompileRequest& request, const Compiled& compiled);
    void write(const std::string& name, std::string_view bytes);

    std::unique_ptr<cache::Folder> folder_;  ///< none: nothing is kept
    std::mutex compiler_mutex_;
    std::vector<CompilerIdentity> compilers_;  ///< the first compiles; others only where none can be opened
    bool was_asked_ = false;                   ///< the first is the one that is open, not a record
    mutable std::mutex mutex_;
    std::optional<std::string> note_;
    bool was_noted_ = false;
    Counts counts_;
};

/// The process's own cache, set up from the environment by the first call; throws InputError for a variable
/// that cannot be understood.
[[nodiscard]] KernelCache& kernel_cache();

/// The note of kernel_cache(), told once; nothing if no kernel was asked for.
[[nodiscard]] std::optional<std::string> take_cache_note();

/// `kernel_cache().get(request)`
[[nodiscard]] Compiled load_or_compile(const CompileRequest& request);

/// `kernel_cache().load(request)`
[[nodiscard]] std::optional<Compiled> load_kept(const CompileRequest& request);

}  // namespace segfold::cuda
