#pragma once
// The interface of all back ends, which run workloads.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/device_identity.h"
#include "runtime/backends/timing.h"
#include "runtime/data/workload.h"
#include "runtime/support/run_times.h"

namespace segfold {

namespace cuda {
class CompileCache;
class Context;
}  // namespace cuda

/// Variations of a run that must not change its results.
struct Circumstances {
    /// Number of launches in a row with the same scratch memory. The results of the last launch are returned.
    int launches = 1;
    int shifted_elements = 0;  ///< distance of each column's begin from an aligned address, in elements
    /// Byte that fills scratch memory, except where kernels need zeros; without it the memory is not filled.
    std::optional<std::uint8_t> scratch_poison = {};
    std::uint64_t round = 0;  ///< simt: each value gives another order of threads and blocks
};

/// Options for making a back end.
struct BackendOptions {
    std::optional<int> device = {};                   ///< ordinal of the GPU
    std::optional<std::uint64_t> schedule_seed = {};  ///< simt: seed of the order of threads and blocks
};

/// Runs workloads. One object may run any number of them, but from one thread at a time.
class Backend {
public:
    virtual ~Backend() = default;

    /// Returns the name in the table of back ends: "cuda", "cpu", "simt", "reference" or "thrust".
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Describes the GPU, schedule or threads that runs use: "NVIDIA H200, compute capability 9.0".
    [[nodiscard]] virtual std::string description() const = 0;
    /// True if this back end runs the text that a stage emits. Other back ends have no stages and take no
    /// plan.
    [[nodiscard]] virtual bool runs_stages() const = 0;
    /// The dialect of this back end's stages: CUDA's, or the native dialect of Catalogue::native().
    [[nodiscard]] virtual Dialect dialect() const { return Dialect::cuda; }
    /// True if this machine has no compiler. The back end then interprets operators and compiles no text.
    [[nodiscard]] virtual bool interprets() const { return false; }
    /// A remark for users on how the back end runs on this machine: a sentence without its final dot, or
    /// empty.
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// True if Circumstances::round changes the order of threads.
    [[nodiscard]] virtual bool has_schedules() const { return false; }
    /// The properties of the target on which emitted texts may rely.
    [[nodiscard]] virtual Target target() const { return {}; }
    /// The GPU of this back end; nothing if it uses no GPU.
    [[nodiscard]] virtual std::optional<cuda::DeviceInfo> device() const { return std::nullopt; }
    /// The device under which tuning records are stored; nothing if the back end cannot be timed.
    [[nodiscard]] virtual std::optional<DeviceIdentity> identity() const { return std::nullopt; }

    /// True if nothing here compiles, so that only texts run that are compiled already.
    [[nodiscard]] virtual bool only_loads() { return false; }
    /// The seconds that compiling the text of a plan is expected to take; 0 if it is compiled already, in
    /// memory or on disk; infinite if it is not and only_loads(). Several threads may call it.
    [[nodiscard]] virtual double seconds_to_compile(const Emitted& /*text*/) { return 0; }
    /// Compiles the texts of plans at once, each on a thread of its own, so that runs find them compiled. A
    /// text that does not compile makes its run fail.
    virtual void compile_all(std::span<const Emitted> /*texts*/) {}

    /// The GPU's context; null without a GPU. Waits until the context exists.
    [[nodiscard]] virtual const cuda::Context* context() const { return nullptr; }
    /// The programs compiled for the GPU; null without a GPU.
    [[nodiscard]] virtual cuda::CompileCache* programs() { return nullptr; }

    /// Runs a workload. `text` is that of a stage, and must not be null if runs_stages() is true. `times`, if
    /// not null, receives the times of the run's parts.
    ///
    /// Throws InputError if check_workload() refuses the workload or an element reads past the end of a
    /// checked table; DeviceError if the device or a compiler fails; simt::SimtError if simt finds a fault in
    /// a kernel.
    [[nodiscard]] Results run(const Workload& workload, const Emitted* text,
                              const Circumstances& circumstances = {}, RunTimes* times = nullptr);

    /// Returns an object that times plans of this back end, for bench, tune and regress. A back end that can
    /// be timed has an identity(). Throws DeviceError with the reason if this back end cannot be timed.
    [[nodiscard]] virtual std::unique_ptr<Timing> timing();

private:
    /// Does the work of run(), except that run() itself sets RunTimes::seconds.
    [[nodiscard]] virtual Results run_workload(const Workload& workload, const Emitted* text,
                                               const Circumstances& circumstances, RunTimes& times) = 0;
};

/// An entry in the table of back ends.
struct BackendEntry {
    std::string name;
    std::string summary;               ///< one line: what runs, and where
    bool takes_device = false;         ///< accepts BackendOptions::device
    bool takes_schedule_seed = false;  ///< accepts BackendOptions::schedule_seed
    /// Makes the back end. Throws DeviceError if the back end cannot run on this machine.
    std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
};

/// Returns the known back ends: cuda, cpu, simt, reference, thrust, then those added by add_backend().
[[nodiscard]] const std::vector<BackendEntry>& backends();

/// Adds a back end to the table. Must not be called while other threads use the table. Throws InputError if
/// the name is taken.
///
/// To build a back end into the program, make a folder and add a line in backends.cpp.
void add_backend(BackendEntry entry);

/// Returns the back end for the name "auto". The first rule that fits counts: simt if a schedule seed is
/// given; cuda if a device is chosen or a GPU is present; simt if `runs_cuda_stage` is true, because a CUDA
/// stage is requested; else cpu.
[[nodiscard]] std::string_view automatic_backend(const BackendOptions& options = {},
                                                 bool runs_cuda_stage = false);

/// Makes the back end `name`, or automatic_backend() for "auto". Throws InputError for an unknown name and
/// for an option that the back end does not accept.
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view name,
                                                    const BackendOptions& options = {});

namespace cuda {
/// Makes the back end "cuda" on an existing context.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Context& context);
}  // namespace cuda

}  // namespace segfold
