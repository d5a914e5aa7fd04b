#pragma once
// Times of a back end whose plans work in the host's memory: by the host's clock.
#include <functional>
#include <memory>
#include <string>

#include "runtime/backends/timing.h"

namespace segfold {

/// What a back end of the host gives so that its plans can be timed.
struct HostPlans {
    /// What compiles: "g++ 12.2.0"; "none" where nothing is compiled.
    std::string compiler = "none";
    /// Compiles a plan, unless it is done already; the seconds that it took. Empty where nothing is compiled.
    /// Several threads may call it.
    std::function<double(const PlanText& plan)> compile = {};
    /// Binds a plan to the arrays of a workload and to its results, one array for each field with room for
    /// every segment; all outlive what is returned. The launch folds, and returns when it is done.
    std::function<TimedLaunch(const Workload& workload, const PlanText& plan, Results& results)> prepare;
};

/// A launch is over when it returns, so each is timed by itself. The ceiling is what all threads of the host
/// read together; the cache is the processor's last one.
[[nodiscard]] std::unique_ptr<Timing> make_host_timing(HostPlans plans);

/// A workload that a host's timing has placed: its arrays, and the results that plans write.
struct HostWorkload {
    const Workload& workload;
    Results& results;
};
/// Throws InternalError for one of another timing.
[[nodiscard]] HostWorkload host_workload_of(PlacedWorkload& placed);

/// Bytes of the processor's last cache, as $SEGFOLD_LAST_CACHE_BYTES or else the system has them; 32 MiB
/// where there is none to tell. A virtual machine of a few cores is told of the whole cache of its host.
[[nodiscard]] std::int64_t last_cache_bytes();

}  // namespace segfold
