#pragma once
// Compiles CUDA text to a cubin with NVRTC, with error messages that show the faulty lines.
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
    std::string name;          ///< name in messages, such as "tile_scan.cu"
    std::string architecture;  ///< "sm_90" gives a cubin; "compute_90" gives PTX for the driver
    std::vector<std::string> extra_options;
    bool is_batch = false;  ///< true if `source` joins several programs; then uses one core

    bool operator==(const CompileRequest&) const = default;
};

struct Compiled {
    Image cubin;      ///< ELF image; for a "compute_" architecture PTX and a zero byte
    std::string log;  ///< warnings; empty if there are none
    double seconds = 0;
    std::vector<KernelResources> resources;  ///< one per kernel; empty for PTX
    bool is_from_disk = false;               ///< true if `seconds` come from an earlier compilation
    /// Prefix of the kernels' names in `cubin`, if the program was compiled in a batch; else empty.
    std::string kernel_prefix = "";
};

struct Variant;  // compile_batch.h

/// Makes the process keep the memory that a compilation frees, for the next compilation.
///
/// Processes with many compilations should call it at their start. New pages cost 3 to 4 ms per compilation.
void keep_memory_for_compilations();

/// Returns all options that compile() passes to NVRTC, in order.
[[nodiscard]] std::vector<std::string> compile_options(const CompileRequest& request);

/// Compiles one program. Several threads may call it at the same time.
///
/// If NVRTC refuses the program, throws DeviceError. The message has NVRTC's first error and its lines, the
/// path of the kept source, and NVRTC's whole log.
[[nodiscard]] Compiled compile(const CompileRequest& request);

/// Compiles one program. If NVRTC refuses it, returns nothing and keeps no copy of the source.
[[nodiscard]] std::optional<Compiled> try_compile(const CompileRequest& request);

/// Compiles independent programs on up to `threads` threads, or takes them from the kernel cache. Returns
/// them in the given order. 0 threads means one per core, at most 8.
///
/// If compilations fail, waits for all of them. Then throws the error of the first failed request in the
/// given order.
[[nodiscard]] std::vector<Compiled> compile_many(std::span<const CompileRequest> requests,
                                                 unsigned threads = 0);

/// Returns the PTX of a program. `architecture` may be "sm_90" or "compute_90".
[[nodiscard]] std::string ptx(const CompileRequest& request);

/// Returns the architectures that the installed NVRTC supports: "sm_75", "sm_80", ...
[[nodiscard]] std::vector<std::string> supported_architectures();

/// Returns the architecture to compile for, for a GPU of compute capability `major`.`minor`.
///
/// It is the GPU's own architecture if NVRTC knows it. Otherwise it is the closest older architecture of the
/// same major version, because the GPU runs its cubins. Otherwise it is PTX of the newest older architecture
/// ("compute_120"). Throws DeviceError if NVRTC knows only newer architectures.
[[nodiscard]] std::string architecture_for(int major, int minor);

/// Keeps every program in memory. Takes programs from the kernel cache on disk if possible.
///
/// Threads that request the same program share one compilation. The key is source, architecture and options;
/// a program's name is used only in messages. Failures are not kept.
class CompileCache {
public:
    [[nodiscard]] std::shared_ptr<const Compiled> get(const CompileRequest& request);

    /// Compiles, in one batch, all `variants` that are not in memory, not on disk and not being compiled.
    ///
    /// A get() of such a variant then waits for the batch. If a variant does not compile, this call does not
    /// fail; callers that wait for the variant get the error, and a later get() compiles it again. Writes
    /// nothing to the disk.
    void prepare(std::span<const Variant> variants);

    /// Compiles each missing program of `requests` alone, on up to `threads` threads. 0 means one per core,
    /// at most 8. If a program does not compile, this call does not fail; get() reports the error.
    void prepare_each(std::span<const CompileRequest> requests, unsigned threads = 0);

    /// True if get() would start no compilation, because the program is in memory or being compiled.
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
