#pragma once
// The interface of all back ends, which run workloads.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
    /// Launches in a row with the same scratch memory. The last one's results are returned.
    int launches = 1;
    int shifted_elements = 0;  ///< elements between an aligned address and the begin of each column
    /// Byte that fills scratch memory, except where zeros are needed.
    std::optional<std::uint8_t> scratch_poison = {};
    std::uint64_t round = 0;  ///< simt: selects another order of threads and blocks
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

    /// "cuda", "cpu", "simt", "reference", "thrust"
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// The GPU, schedule or threads used, as in "NVIDIA H200, compute capability 9.0".
    [[nodiscard]] virtual std::string description() const = 0;
    /// True if it runs emitted text. Other back ends have no stages and take no plan.
    [[nodiscard]] virtual bool runs_stages() const = 0;
    /// The dialect of the stages that it runs: CUDA's, or the native dialect of Catalogue::native().
    [[nodiscard]] virtual Dialect dialect() const { return Dialect::cuda; }
    /// True if no compiler exists here, so that it interprets the operator instead of running a stage's text.
    [[nodiscard]] virtual bool interprets() const { return false; }
    /// A remark for users on how it runs here: a sentence without its final dot, or empty.
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// Whether Circumstances::round changes the order of threads.
    [[nodiscard]] virtual bool has_schedules() const { return false; }
    /// The properties of the target that emitted texts may rely on.
    [[nodiscard]] virtual Target target() const { return {}; }
    /// The GPU, if it uses one.
    [[nodiscard]] virtual std::optional<cuda::DeviceInfo> device() const { return std::nullopt; }
    /// The device under which tuning records are stored; nothing if the back end is not timed.
    [[nodiscard]] virtual std::optional<DeviceIdentity> identity() const { return std::nullopt; }

    /// The GPU's context, if it uses one; waits until the context exists.
    [[nodiscard]] virtual const cuda::Context* context() const { return nullptr; }
    /// The programs that it has compiled for a GPU; null if it uses none.
    [[nodiscard]] virtual cuda::CompileCache* programs() { return nullptr; }

    /// Runs a workload. `plan` is required if runs_stages(). `times`, if not null, receives the times of the
    /// run's parts.
    ///
    /// Throws InputError if check_workload() refuses the workload or an element reads outside of a checked
    /// table; DeviceError if the device or a compiler fails; simt::SimtError if simt finds a fault in a
    /// kernel.
    [[nodiscard]] Results run(const Workload& workload, const PlanText* plan,
                              const Circumstances& circumstances = {}, RunTimes* times = nullptr);

    /// Returns the object that measures its plans for bench, tune and regress. Such a back end has an
    /// identity(). Throws DeviceError with the reason if it cannot be timed.
    [[nodiscard]] virtual std::unique_ptr<Timing> timing();

private:
    /// `times` is never null. The caller fills in `seconds`.
    [[nodiscard]] virtual Results run_workload(const Workload& workload, const PlanText* plan,
                                               const Circumstances& circumstances, RunTimes& times) = 0;
};

/// An entry in the table of back ends.
struct BackendEntry {
    std::string name;
    std::string summary;               ///< one line on what it runs and where
    bool takes_device = false;         ///< accepts BackendOptions::device
    bool takes_schedule_seed = false;  ///< accepts BackendOptions::schedule_seed
    /// Throws DeviceError if the back end cannot run on this machine.
    std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
};

/// Returns the known back ends: cuda, cpu, simt, reference, thrust, then those added by add_backend().
[[nodiscard]] const std::vector<BackendEntry>& backends();

/// Adds a back end to the table. Must not be called while other threads use the table. Throws InputError if
/// the name is taken.
///
/// To build a back end into the program, make a folder and add a line in backends.cpp.
void add_backend(BackendEntry entry);

/// Returns the back end that "auto" stands for. The first rule that fits counts: simt if a schedule seed is
/// given; cuda if a device is chosen or a GPU is present; simt if `runs_cuda_stage` says that a CUDA stage is
/// requested; else cpu.
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
