#pragma once
// The interface of all back ends. A back end runs workloads.
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

/// Conditions of a run that must not change its results.
struct Circumstances {
    /// Number of successive launches with the same scratch memory. The results of the last launch are
    /// returned.
    int launches = 1;
    int shifted_elements = 0;  ///< distance of each column's begin from an aligned address, in elements
    /// Byte that fills scratch memory, except where kernels need zeros. If empty, the memory is not filled.
    std::optional<std::uint8_t> scratch_poison = {};
    std::uint64_t round = 0;  ///< simt: each value gives a different order of threads and blocks
};

/// Options for making a back end.
struct BackendOptions {
    std::optional<int> device = {};                   ///< index of the GPU
    std::optional<std::uint64_t> schedule_seed = {};  ///< simt: seed of the order of threads and blocks
};

/// Runs workloads. Only one thread at a time may use the object.
class Backend {
public:
    virtual ~Backend() = default;

    /// Returns the name in the table of back ends: "cuda", "cpu", "simt", "reference" or "thrust".
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Describes the GPU, schedule or threads that runs use, such as "NVIDIA H200, compute capability 9.0".
    [[nodiscard]] virtual std::string description() const = 0;
    /// True if this back end runs the texts that stages emit. Other back ends have no stages and take no
    /// plan.
    [[nodiscard]] virtual bool runs_stages() const = 0;
    /// The dialect of this back end's stages: CUDA, or the native dialect of Catalogue::native().
    [[nodiscard]] virtual Dialect dialect() const { return Dialect::cuda; }
    /// True if this machine has no compiler. The back end then interprets operators and compiles nothing.
    [[nodiscard]] virtual bool interprets() const { return false; }
    /// Tells users how the back end runs on this machine: a sentence without its final dot, or empty.
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// True if Circumstances::round changes the order of threads.
    [[nodiscard]] virtual bool has_schedules() const { return false; }
    /// The properties of the target, on which emitted texts may rely.
    [[nodiscard]] virtual Target target() const { return {}; }
    /// The GPU of this back end; nothing if it uses no GPU.
    [[nodiscard]] virtual std::optional<cuda::DeviceInfo> device() const { return std::nullopt; }
    /// The device under which tuning records are stored; nothing if the back end cannot be timed.
    [[nodiscard]] virtual std::optional<DeviceIdentity> identity() const { return std::nullopt; }

    /// True if this process cannot compile, so that only texts run that are already compiled.
    [[nodiscard]] virtual bool only_loads() { return false; }
    /// The expected seconds to compile a plan's text. 0 if it is already compiled, in memory or on disk;
    /// infinite if it is not and only_loads() is true. Several threads may call this function.
    [[nodiscard]] virtual double seconds_to_compile(const Emitted& /*text*/) { return 0; }
    /// Compiles texts in parallel, each on its own thread, so that runs find them compiled. If a text does
    /// not compile, its run reports the error.
    virtual void compile_all(std::span<const Emitted> /*texts*/) {}

    /// The GPU's context; null without a GPU. Waits until the context exists.
    [[nodiscard]] virtual const cuda::Context* context() const { return nullptr; }
    /// The programs compiled for the GPU; null without a GPU.
    [[nodiscard]] virtual cuda::CompileCache* programs() { return nullptr; }

    /// Runs a workload. `text` is the text of a stage, and must not be null if runs_stages() is true. If
    /// `times` is not null, sets it to the times of the run.
    ///
    /// Throws InputError if check_workload() refuses the workload, or if an element reads past the end of a
    /// checked table. Throws DeviceError if the device or a compiler fails, and simt::SimtError if simt finds
    /// a fault in a kernel.
    [[nodiscard]] Results run(const Workload& workload, const Emitted* text,
                              const Circumstances& circumstances = {}, RunTimes* times = nullptr);

    /// Returns an object that times plans of this back end, for bench, tune and regress. Throws DeviceError
    /// with the reason if this back end cannot be timed; it then has no identity().
    [[nodiscard]] virtual std::unique_ptr<Timing> timing();

private:
    /// Does the work of run(), but leaves RunTimes::seconds to run().
    [[nodiscard]] virtual Results run_workload(const Workload& workload, const Emitted* text,
                                               const Circumstances& circumstances, RunTimes& times) = 0;
};

/// An entry in the table of back ends.
struct BackendEntry {
    std::string name;
    std::string summary;               ///< one line that tells what runs, and where
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

/// Returns the back end for the name "auto", by the first rule that applies.
///
///   simt  if a schedule seed is given
///   cuda  if a device is chosen or a GPU is present
///   simt  if `runs_cuda_stage` is true, because a CUDA stage is requested
///   cpu   otherwise
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
