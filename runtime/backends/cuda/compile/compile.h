#pragma once
// CUDA text to a cubin by NVRTC, with an error message a person can act on.
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/backends/cuda/compile/image.h"
#include "runtime/backends/cuda/compile/resource_report.h"

namespace segfold::cuda {

struct CompileRequest {
    std::string source;
    std::string name;          ///< as shown in messages: "tile_scan.cu"
    std::string architecture;  ///< "sm_90"; "compute_90" gives PTX for the driver to translate
    std::vector<std::string> extra_options;
    bool is_batch = false;  ///< a program of several texts, compiled beside others on all cores

    bool operator==(const CompileRequest&) const = default;
};

struct Compiled {
    Image cubin;      ///< an ELF image; PTX text with its closing zero for a compute_ architecture
    std::string log;  ///< warnings; empty when there are none
    double seconds = 0;
    std::vector<KernelResources> resources;  ///< one per kernel; none for PTX
    bool is_from_disk = false;               ///< `seconds` are then those of another process
    std::string kernel_prefix = "";  ///< before the name of each kernel in `cubin`; empty but for a Variant
};

struct Variant;  // compile_batch.h

/// Lets the process keep the memory that a compilation frees: the next one needs it again.
///
/// For programs that compile much, at their start: new pages cost 3 to 4 ms a compilation.
void keep_memory_for_compilations();

/// Every option that compile() gives NVRTC, in order.
[[nodiscard]] std::vector<std::string> compile_options(const CompileRequest& request);

/// Compiles one program; safe to call from several threads at once.
///
/// Throws DeviceError with NVRTC's first error beside the lines it points to, the path where the source was
/// kept, and NVRTC's whole log.
[[nodiscard]] Compiled compile(const CompileRequest& request);

/// The same; nothing where NVRTC refuses the program, and its source is not kept.
[[nodiscard]] std::optional<Compiled> try_compile(const CompileRequest& request);

/// Compiles independent programs on up to `threads` threads (0: as many as cores, at most 8), or takes them
/// from the kernel cache; in the order given.
///
/// After all have ended, throws the error of the first failing request in the order given.
[[nodiscard]] std::vector<Compiled> compile_many(std::span<const CompileRequest> requests,
                                                 unsigned threads = 0);

/// The PTX of a program; `architecture` may be "sm_90" or "compute_90".
[[nodiscard]] std::string ptx(const CompileRequest& request);

/// "sm_75", "sm_80", ...: the architectures that the NVRTC found compiles for.
[[nodiscard]] std::vector<std::string> supported_architectures();

/// The architecture to compile for so that a GPU of compute capability `major`.`minor` can run it.
///
/// The GPU's own when NVRTC knows it; else the closest older one of the same major version, whose cubins it
/// runs; else PTX ("compute_120") of the newest one that is older. Throws DeviceError when every one is
/// newer.
[[nodiscard]] std::string architecture_for(int major, int minor);

/// Keeps every program while it lives, and takes programs from the kernel cache on disk. Two threads that ask
/// for the same one share a compilation.
///
/// Keyed by source, architecture and options; the name of a program shows only in messages. Failures are not
/// kept.
class CompileCache {
public:
    [[nodiscard]] std::shared_ptr<const Compiled> get(const CompileRequest& request);

    /// Compiles in one batch those of `variants` that are not there, not under way and not on the disk.
    ///
    /// get() of one of them waits from now on. A variant that does not compile fails the get() that waits for
    /// it, not this call; a later get() compiles it again. Nothing is written to the disk.
    void prepare(std::span<const Variant> variants);

    /// Compiles each of `requests` that is not there by itself, on up to `threads` threads (0: as many as
    /// cores, at most 8). As after prepare(), get() throws the error of one that fails.
    void prepare_each(std::span<const CompileRequest> requests, unsigned threads = 0);

    /// True where get() would compile nothing: the program is there or under way.
    [[nodiscard]] bool contains(const CompileRequest& request) const;

    struct Counts {
        std::size_t hits = 0;
        std::size_t misses = 0;
    };
    [[nodiscard]] Counts counts() const;

private:
    using Entry = std::shared_future<std::shared_ptr<const Compiled>>;
    struct Claim;
    void settle(Claim& claim, Compiled compiled);
    void settle(Claim& claim, std::exception_ptr failure);

    mutable std::mutex mutex_;
    std::unordered_map<std::string, Entry> entries_;
    Counts counts_;
};

}  // namespace segfold::cuda
