#pragma once
// Measures every stage and peer on one workload and compares their results.
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
    /// `measured` must outlive this object. `cccl` is the folder of headers for peers, as for
    /// make_peer_libraries(). Throws DeviceError if the back end cannot be timed.
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
    bool is_chosen = false;        ///< true: a run would take this plan; it is measured first
    std::string objection;         ///< reason why the stage cannot run; empty if it can
    bool is_reproducible = false;  ///< true: the order of combination depends only on the data
    std::string label = "";        ///< distinguishes plans of one stage
};

struct LadderOptions {
    int repeats = 21;
    /// A stage or peer is abandoned if it takes this many times as long as the fastest one.
    double hopeless = 100;
    /// Time limit for all runs of one plan. At least three runs are made.
    double most_milliseconds = 1e3;
    /// If true, each run is also timed by the host's clock, including the wait for its end.
    bool by_host_clock = false;
};

/// One workload and the plans and peers to measure on it.
struct LadderRequest {
    const Problem& problem;
    /// A workload that has passed check_tables(). Its arrays are required if it has at most kMostJudged
    /// elements (numbers, if elements are rows).
    const Workload& workload;
    std::shared_ptr<const LoadedArrays> inputs;
    std::string layout;
    std::vector<LadderPlan> plans;
    std::vector<const Peer*> peers;
    const Catalogue& catalogue;
    LadderOptions options;
    /// The workload's arrays in host memory, if it has none itself.
    std::vector<const std::byte*> columns = {};
};

/// Functions called while measuring; each may be empty.
struct LadderListener {
    std::function<void(const std::string& doing)> progress;
    std::function<void(const WorkloadRecord& so_far, const Entry& entry)> measured;
};

/// Compiles all plans and peers of a request on the host's cores, then measures them, the chosen plan first.
///
/// If a stage cannot run, does not compile or fails, its entry says so, and the next one is measured. Only if
/// the device refuses further work of this process does measuring end.
///
/// A plan is abandoned if one launch takes `hopeless` times as long as the fastest so far. It is not launched
/// at all if its longest segment alone would take that long. This time is estimated from runs on segments of
/// 2^14 and 2^18 elements. Throws DeviceError if the workload does not fit on the device.
[[nodiscard]] WorkloadRecord climb(Bench& bench, const LadderRequest& request,
                                   const LadderListener& listener);

/// Sorts entries in the order of a table: stages in the catalogue's order, then peers.
[[nodiscard]] std::vector<Entry> in_order(std::vector<Entry> entries, const Catalogue& catalogue);

}  // namespace segfold::bench
