#pragma once
// Stores compiled programs on disk for later processes.
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/compile/compiler_identity.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"

namespace segfold::cuda {

/// The endings of file names in a kernel cache: kernels, and records of compilers.
inline constexpr std::string_view kKernelKind = "kernel";
inline constexpr std::string_view kCompilerKind = "nvrtc";

/// Returns the digest of all inputs of a compiled image: format of the entries, source, options in order,
/// architecture, and NVRTC's version and build. Driver, paths and the program's name are left out.
[[nodiscard]] std::string kernel_key(const CompileRequest& request, std::string_view compiler_version);

/// Returns the architectures of `known` whose programs run on every GPU that runs those of `architecture`,
/// the closest first, then those of PTX. `known` has numbers such as 90, ascending; `architecture` is left
/// out.
[[nodiscard]] std::vector<std::string> architectures_instead(const std::string& architecture,
                                                             const std::vector<int>& known);

/// True if the image depends only on the inputs of kernel_key().
///
/// False if the source includes files, tests whether files exist or uses the time, or if an option might name
/// a file. Such a program is compiled every time.
[[nodiscard]] bool is_self_contained(const CompileRequest& request);

/// Programs on disk that this or another process has compiled. Loading them does not open NVRTC.
///
/// A program is compiled again and replaced if its entry is damaged, has another format or does not match its
/// name. No lock is held during a compilation or between processes. Two processes that compile the same
/// program write the same entry. If the folder cannot be used, the cache leaves a note and does not throw.
class KernelCache {
public:
    explicit KernelCache(const cache::Settings& settings);

    /// Loads the program from disk, or compiles and stores it. Throws DeviceError like compile().
    [[nodiscard]] Compiled get(const CompileRequest& request);

    /// Loads the program from disk; returns nothing if it is not there. If kernels can only be loaded, a
    /// program for another architecture that runs on the same GPUs serves too. Throws DeviceError like
    /// compiler().
    [[nodiscard]] std::optional<Compiled> load(const CompileRequest& request);

    /// Returns the identity of this machine's NVRTC. Opens NVRTC only if the disk has no record of it.
    ///
    /// If no NVRTC can be opened, returns the NVRTC with the newest record, because its kernels can still be
    /// loaded. Throws DeviceError if there is no record either.
    [[nodiscard]] CompilerIdentity compiler();

    /// Returns the architectures that can be requested, ascending. They are the ones that NVRTC supports or,
    /// if no NVRTC can be opened, those in all records. Throws DeviceError like compiler().
    [[nodiscard]] std::vector<int> architectures();

    /// True if kernels can only be loaded, because no NVRTC can be opened.
    [[nodiscard]] bool only_loads();

    /// Returns a compiled program with the key by which another machine finds it; see kernel_archive.h.
    /// Throws InputError for a request that is not self-contained.
    [[nodiscard]] KernelEntry entry(const CompileRequest& request, Compiled compiled);

    /// Returns the reason why kernels cannot be stored. Returns nothing if they can be stored, or if an
    /// earlier call returned the reason.
    [[nodiscard]] std::optional<std::string> take_note();

    struct Counts {
        std::size_t loaded = 0;    ///< programs loaded from disk
        std::size_t compiled = 0;  ///< programs compiled because there was no entry
        std::size_t damaged = 0;   ///< damaged or invalid entries
    };
    [[nodiscard]] Counts counts() const;

private:
    void identify();
    void know_build();
    void ask_beside();
    void wait_for_build();
    void record_open_compiler();
    [[nodiscard]] bool has_kernels() const;
    [[nodiscard]] std::string record_name() const;
    [[nodiscard]] bool is_kept(const CompileRequest& request) const;
    [[nodiscard]] std::optional<Compiled> find(const CompileRequest& request,
                                               const std::vector<CompilerIdentity>& compilers);
    [[nodiscard]] std::optional<Compiled> read(const CompileRequest& request, const std::string& key,
                                               std::string_view kind);
    void keep(const CompileRequest& request, const Compiled& compiled);
    void write(const std::string& name, std::string_view bytes);

    std::unique_ptr<cache::Folder> folder_;  ///< null if nothing is stored
    std::mutex compiler_mutex_;
    /// This machine's NVRTC. If none can be opened, every NVRTC with a record in the folder, the newest
    /// record first; the kernels that these compiled can still be loaded.
    std::vector<CompilerIdentity> compilers_;
    bool only_loads_ = false;   ///< true if no NVRTC can be opened; `compilers_` are then records
    bool lacks_build_ = false;  ///< true while the build of the open NVRTC is unknown
    std::shared_future<CompilerIdentity> asked_;  ///< the open NVRTC with its build; see ask_beside()
    bool was_asked_ = false;                      ///< true once `compilers_` has the open NVRTC
    mutable std::mutex mutex_;
    std::optional<std::string> note_;
    bool was_noted_ = false;
    Counts counts_;
};

/// Returns the process's cache. The first call sets it up from the environment and throws InputError if a
/// variable is malformed.
[[nodiscard]] KernelCache& kernel_cache();

/// Returns take_note() of kernel_cache(). Returns nothing if no kernel was ever requested.
[[nodiscard]] std::optional<std::string> take_cache_note();

/// Calls `kernel_cache().get(request)`.
[[nodiscard]] Compiled load_or_compile(const CompileRequest& request);

/// Calls `kernel_cache().load(request)`.
[[nodiscard]] std::optional<Compiled> load_kept(const CompileRequest& request);

}  // namespace segfold::cuda
