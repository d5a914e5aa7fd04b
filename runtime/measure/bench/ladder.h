#pragma once
// Every stage and peer on one workload: measured, compared, and told as it goes.
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

/// A back end with all that any number of workloads share: its clock, what was compiled, the ceiling.
struct Bench {
    /// Peers take the headers in `cccl` as make_peer_libraries() does. `measured` must outlive this object.
    /// Throws DeviceError for a back end that is not timed.
    explicit Bench(Backend& measured, const std::filesystem::path& cccl = {});

    Backend& backend;
    std::unique_ptr<Timing> timing;
    ReadCeiling ceiling;
    std::unique_ptr<PeerLibraries> peers;

    [[nodiscard]] MachineRecord machine() const;
};

/// A stage to be measured.
struct LadderPlan {
    const Stage* stage = nullptr;
    Configuration configuration;
    bool is_chosen = false;        ///< the plan that a run takes; it is measured first
    std::string objection;         ///< why the stage cannot serve; empty where it can
    bool is_reproducible = false;  ///< in the order that follows from the data alone
    std::string label = "";        ///< what tells it from other plans of its stage
};

struct LadderOptions {
    int repeats = 21;
    double hopeless = 100;           ///< a stage that takes so many times as long as the best is abandoned
    double most_milliseconds = 1e3;  ///< spent on the runs of one plan, but at least three are made
    bool by_host_clock = false;      ///< time each run by the host's clock too, waiting for its end
};

/// One workload and what is to be measured on it.
struct LadderRequest {
    const Problem& problem;
    /// What check_tables() lets pass, with its arrays where it has at most kMostJudged elements, of rows
    /// numbers.
    const Workload& workload;
    std::shared_ptr<const LoadedArrays> inputs;
    std::string layout;
    std::vector<LadderPlan> plans;
    std::vector<const Peer*> peers;
    const Catalogue& catalogue;
    LadderOptions options;
    std::vector<const std::byte*> columns = {};  ///< the arrays on the host, where the workload has none
};

/// What is told on the way; both may be empty.
struct LadderListener {
    std::function<void(const std::string& doing)> progress;
    std::function<void(const WorkloadRecord& so_far, const Entry& entry)> measured;
};

/// Measures all plans and peers of a request, the chosen plan first, after all plans have been compiled on
/// the host's cores.
///
/// A stage that cannot serve, does not compile or fails is an entry that says so and ends nothing, but for a
/// failure that ends the device's work for this process. A plan is abandoned where one launch took `hopeless`
/// times as long as the best so far, and before any launch where its longest segment alone would, judged by
/// what segments of 2^14 and 2^18 elements take it. Throws DeviceError where the workload does not fit
/// the device.
[[nodiscard]] WorkloadRecord climb(Bench& bench, const LadderRequest& request,
                                   const LadderListener& listener);

/// Entries in the order of a table: stages as the catalogue has them, then peers.
[[nodiscard]] std::vector<Entry> in_order(std::vector<Entry> entries, const Catalogue& catalogue);

}  // namespace segfold::bench
