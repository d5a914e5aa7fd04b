#pragma once
// The back end that a run uses, chosen once, used for any number of workloads.
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/backends/cuda/context.h"
#include "runtime/backends/simt/program.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/plan.h"
#include "runtime/data/workload.h"
#include "runtime/regress/runner.h"
#include "runtime/support/run_times.h"

namespace segfold::cli {

inline constexpr Flag kBackendFlags[] = {{"backend", "BACKEND"}, {"device", "N"}, {"schedule-seed", "N"}};

enum class Backend : std::uint8_t { cuda, simt, reference, thrust };

/// "cuda", "simt", "reference", "thrust"
std::string_view name(Backend backend);

/// Runs plans and whole operators where --backend says; without it on a GPU, or on simt where there is none.
class Executor {
public:
    /// Throws InputError, or DeviceError where the back end that was asked for cannot run here.
    explicit Executor(const Arguments& arguments);
    ~Executor();

    [[nodiscard]] Backend backend() const { return backend_; }
    /// True for the back ends that run emitted text; the others know no stages.
    [[nodiscard]] bool runs_stages() const { return backend_ == Backend::cuda || backend_ == Backend::simt; }
    /// What runs stages is capable of.
    [[nodiscard]] Target target() const;
    /// The GPU, where one is used.
    [[nodiscard]] std::optional<cuda::DeviceInfo> device() const;
    /// The GPU, the schedule, the threads: "NVIDIA H200, compute capability 9.0".
    [[nodiscard]] std::string description() const;

    /// The same back end as regress uses it; needs runs_stages().
    [[nodiscard]] std::unique_ptr<regress::Runner> runner() const;

    /// Runs a workload; `plan` is needed where runs_stages(). `round` varies the schedule of simt; `times`,
    /// where given, is told how long the run took.
    [[nodiscard]] Results run(const Workload& workload, const Plan* plan, std::uint64_t round = 0,
                              RunTimes* times = nullptr) const;

private:
    [[nodiscard]] Results run_backend(const Workload& workload, const Plan* plan, std::uint64_t round,
                                      RunTimes& times) const;
    [[nodiscard]] simt::Options simt_options(std::uint64_t round) const;

    Backend backend_ = Backend::simt;
    std::optional<cuda::DeviceInfo> gpu_;
    std::shared_future<cuda::Context> context_;  ///< made while data and plan are
    std::optional<std::uint64_t> schedule_seed_;
};

/// The results of thrust::reduce_by_key, or why there are none.
struct ThrustResults {
    std::optional<Results> results;
    std::string description;  ///< "Thrust 3.0.1, OpenMP with 16 threads"
    std::string reason;       ///< one sentence; empty where there are results
};

/// Runs Thrust on a GPU where that is possible, else on the host's threads.
ThrustResults run_thrust(const Workload& workload);

}  // namespace segfold::cli
