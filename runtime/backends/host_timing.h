#pragma once
// Times plans on the host with the host's clock.
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/backends/timing.h"

namespace segfold {

/// The functions that a host back end provides for timing its plans.
struct HostPlans {
    /// The compiler, such as "g++ 12.2.0"; "none" if nothing is compiled.
    std::string compiler = "none";
    /// Compiles a plan and returns the seconds that it took; later calls for the same plan do not compile.
    /// Several threads may call it. Empty if nothing is compiled.
    std::function<double(const Emitted& text)> compile = {};
    /// Binds a plan to the arrays of a workload and to result arrays, and returns the launch. There is one
    /// result array per field, long enough for every segment. All arguments must outlive the launch. The
    /// launch returns when the fold is done.
    std::function<TimedLaunch(const Workload& workload, const Emitted& text, Results& results)> prepare;
};

/// Calls `compile` for each text, on all cores. Drops errors, because running the text reports them again.
void compile_on_all_cores(std::span<const Emitted> texts,
                          const std::function<double(const Emitted& text)>& compile);

/// Returns the timing of a host's plans.
///
/// A launch is over when it returns, so each launch is timed alone. The read ceiling is the rate at which all
/// threads together read memory. The cache is the processor's last-level cache.
[[nodiscard]] std::unique_ptr<Timing> make_host_timing(HostPlans plans);

/// A workload in host memory: its arrays, and the results that plans write.
struct HostWorkload {
    const Workload& workload;
    Results& results;
};
/// Returns the arrays and results of a placed workload. Throws InternalError if another back end's timing
/// placed it.
[[nodiscard]] HostWorkload host_workload_of(PlacedWorkload& placed);

/// Returns the bytes of the processor's last-level cache. They are $SEGFOLD_LAST_CACHE_BYTES, else the
/// system's value, else 32 MiB. In a virtual machine with few cores the system may report the whole cache of
/// its host.
[[nodiscard]] std::int64_t last_cache_bytes();

}  // namespace segfold
