#pragma once
// Times plans that work in host memory, by the host's clock.
#include <functional>
#include <memory>
#include <string>

#include "runtime/backends/timing.h"

namespace segfold {

/// The functions of a host back end that timing its plans needs.
struct HostPlans {
    /// The compiler, as in "g++ 12.2.0"; "none" if nothing is compiled.
    std::string compiler = "none";
    /// Compiles a plan unless it is compiled already, and returns the seconds that it took. Empty if nothing
    /// is compiled. Several threads may call it.
    std::function<double(const PlanText& plan)> compile = {};
    /// Binds a plan to the arrays of a workload and to its results. Results hold one array per field, with
    /// room for every segment. All arguments must outlive the returned launch. The launch folds and returns
    /// when it is done.
    std::function<TimedLaunch(const Workload& workload, const PlanText& plan, Results& results)> prepare;
};

/// Makes the timing of a host's plans. Each launch is timed by itself, as it is over when it returns. The
/// read ceiling is the rate at which all threads read together; the cache is the processor's last-level
/// cache.
[[nodiscard]] std::unique_ptr<Timing> make_host_timing(HostPlans plans);

/// A workload placed by a host's timing: its arrays, and the results that plans write.
struct HostWorkload {
    const Workload& workload;
    Results& results;
};
/// Throws InternalError if another timing has placed the workload.
[[nodiscard]] HostWorkload host_workload_of(PlacedWorkload& placed);

/// Returns the bytes of the processor's last-level cache: $SEGFOLD_LAST_CACHE_BYTES, else the system's value,
/// else 32 MiB. In a virtual machine of a few cores the system may report the whole cache of its host.
[[nodiscard]] std::int64_t last_cache_bytes();

}  // namespace segfold
