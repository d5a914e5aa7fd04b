#pragma once
// Measures every stage and peer on one workload, compares their results, and reports progress.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backends/backend.h"
#include "runtime/measure/bench/peers/peers.h"
#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// A back end, with the clock, compiled programs and read ceiling that its workloads share.
struct Bench {
    /// Peers are compiled with the headers in `cccl` as in make_peer_libraries(). `measured` must outlive
    /// this object. Throws DeviceError if the back end cannot be timed.
    explicit Bench(Backend& measured, const std::filesystem::path& cccl = {});

    Backend& backend;
    std::unique_ptr<Timing> timing;
    ReadCeiling ceiling;
    std::unique_ptr<PeerLibraries> peers;

    [[nodiscard]] MachineRecord machine() const;
};

/// A stage to measure, with its configuration.
struct LadderPlan {
    const Stage* stage = nullptr;
    Configuration configuration;
    bool is_chosen = false;        ///< the plan that a run would take; it is measured first
    std::string objection;         ///< why the stage cannot serve; empty if it can
    bool is_reproducible = false;  ///< the plan combines in an order that depends only on the data
    std::string label = "";        ///< distinguishes plans of one stage
};

struct LadderOptions {
    int repeats = 21;
    /// A stage or peer is abandoned if it takes this many times as long as the best.
    double hopeless = 100;
    /// Time limit for the runs of one plan; at least three runs are made.
    double most_milliseconds = 1e3;
    /// If true, each run is also timed by the host's clock until the host has waited for the run's end.
    bool by_host_clock = false;
};

/// One workload and the plans and peers to measure on it.
struct LadderRequest {
    const Problem& problem;
    /// A workload that has passed check_tables(). It must have its arrays if it has at most kMostJudged
    /// elements (numbers, if elements are rows).
    const Workload& workload;
    std::shared_ptr<const LoadedArrays> inputs;
    std::string layout;
    std::vector<LadderPlan> plans;
    std::vector<const Peer*> peers;
    const Catalogue& catalogue;
    LadderOptions options;
    /// If the workload has no arrays, its arrays in host memory.
    std::vector<const std::byte*> columns = {};
};

/// Functions called during measuring; each may be empty.
struct LadderListener {
    std::function<void(const std::string& doing)> progress;
    std::function<void(const WorkloadRecord& so_far, const Entry& entry)> measured;
};

/// Measures all plans and peers of a request, the chosen plan first. Before that, all plans are compiled on
/// the host's cores.
///
/// A stage that cannot serve, does not compile or fails becomes an entry that says so, and measuring goes on.
/// Measuring ends only if the device refuses further work of this process.
///
/// A plan is abandoned if one launch takes `hopeless` times as long as the best so far. It is not even
/// launched if its longest segment alone would take that long. This time is estimated from the plan's times
/// for segments of 2^14 and 2^18 elements. Throws DeviceError if the workload does not fit the device.
[[nodiscard]] WorkloadRecord climb(Bench& bench, const LadderRequest& request,
                                   const LadderListener& listener);

/// Sorts entries as in a table: stages in the catalogue's order, then peers.
[[nodiscard]] std::vector<Entry> in_order(std::vector<Entry> entries, const Catalogue& catalogue);

}  // namespace segfold::bench
