#pragma once
// The interface of everything that runs workloads.
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

/// Circumstances of a run that must not change its results.
struct Circumstances {
    int launches = 1;          ///< one after the other with the same scratch; the last one's results count
    int shifted_elements = 0;  ///< offset of the columns' begin from an aligned address
    std::optional<std::uint8_t> scratch_poison = {};  ///< fills scratch memory that need not be zero
    std::uint64_t round = 0;                          ///< simt: another order of threads and blocks
};

/// Wishes of whoever makes a back end.
struct BackendOptions {
    std::optional<int> device = {};                   ///< ordinal of a GPU
    std::optional<std::uint64_t> schedule_seed = {};  ///< simt: of the order of threads and blocks
};

/// Runs workloads. One object serves any number of them, from one thread at a time.
class Backend {
public:
    virtual ~Backend() = default;

    /// "cuda", "cpu", "simt", "reference", "thrust"
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// The GPU, the schedule, the threads: "NVIDIA H200, compute capability 9.0".
    [[nodiscard]] virtual std::string description() const = 0;
    /// True if it runs emitted text. The others have no stages and take no plan.
    [[nodiscard]] virtual bool runs_stages() const = 0;
    /// Dialect of its stages; native ones are in Catalogue::native().
    [[nodiscard]] virtual Dialect dialect() const { return Dialect::cuda; }
    /// True where the operator is interpreted instead of its stage's text, because nothing compiles that
    /// here.
    [[nodiscard]] virtual bool interprets() const { return false; }
    /// A note to the user on how it runs here: a sentence without its full stop, or "".
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// Whether Circumstances::round changes the order of threads.
    [[nodiscard]] virtual bool has_schedules() const { return false; }
    /// Abilities that texts for it may use.
    [[nodiscard]] virtual Target target() const { return {}; }
    /// The GPU, if it uses one.
    [[nodiscard]] virtual std::optional<cuda::DeviceInfo> device() const { return std::nullopt; }
    /// Names the device in tuning records. Nothing if its times mean nothing; no record is then asked.
    [[nodiscard]] virtual std::optional<DeviceIdentity> identity() const { return std::nullopt; }

    /// The GPU's context, if it uses one; waits until it is made.
    [[nodiscard]] virtual const cuda::Context* context() const { return nullptr; }
    /// The programs that it has compiled for a GPU; null without one.
    [[nodiscard]] virtual cuda::CompileCache* programs() { return nullptr; }

    /// Runs a workload; `plan` is needed if runs_stages(). `times` may be null; it receives the times of the
    /// parts.
    ///
    /// Throws InputError for what check_workload() refuses and for a read outside of a checked table,
    /// DeviceError where the device or a compiler fails, simt::SimtError for a fault that simt finds in a
    /// kernel.
    [[nodiscard]] Results run(const Workload& workload, const PlanText* plan,
                              const Circumstances& circumstances = {}, RunTimes* times = nullptr);

    /// The clock of its plans, used by bench, tune and regress. A timed back end has an identity(). Throws
    /// DeviceError saying why it is not.
    [[nodiscard]] virtual std::unique_ptr<Timing> timing();

private:
    /// `times` is never null; its `seconds` is the caller's to fill.
    [[nodiscard]] virtual Results run_workload(const Workload& workload, const PlanText* plan,
                                               const Circumstances& circumstances, RunTimes& times) = 0;
};

/// A row of the table of back ends.
struct BackendEntry {
    std::string name;
    std::string summary;               ///< what runs there, one line
    bool takes_device = false;         ///< BackendOptions::device
    bool takes_schedule_seed = false;  ///< BackendOptions::schedule_seed
    /// Throws DeviceError if it cannot run here.
    std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
};

/// All back ends: cuda, cpu, simt, reference, thrust, then added ones.
[[nodiscard]] const std::vector<BackendEntry>& backends();

/// Adds a back end to the table; a new one is a folder and this call, or a line in backends.cpp. Not while
/// other threads use the table. Throws InputError for a name that is taken.
void add_backend(BackendEntry entry);

/// The back end of "auto": simt if a schedule's seed is given; else cuda if a device is chosen or a GPU is
/// there; else simt if `runs_cuda_stage`, i.e. a stage of CUDA is asked for; else cpu.
[[nodiscard]] std::string_view automatic_backend(const BackendOptions& options = {},
                                                 bool runs_cuda_stage = false);

/// Makes a back end by name, or automatic_backend() for "auto". Throws InputError for an
/// unknown name and for an option that the back end does not take.
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view name,
                                                    const BackendOptions& options = {});

namespace cuda {
/// The back end "cuda" on a context that is there already.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Context& context);
}  // namespace cuda

}  // namespace segfold
