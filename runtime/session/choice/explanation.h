#pragma once
// The reasons of a plan's choice, as text for users.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/data/workload.h"
#include "runtime/session/choice/lookup.h"
#include "runtime/session/choice/traffic.h"

namespace segfold {

/// A lookup in the records, and the facts that explain a choice.
struct Explanation {
    Lookup lookup;
    /// The plan of the rule of thumb, or the reason why the rule did not choose.
    std::string rule;
    /// The first three stages of the measured order with the shares of the best stage's rate that they are
    /// expected to reach; empty if rows did not rank them.
    std::string expected = {};
    /// The nearest measured workload with the shares of its three best stages; empty where `expected` is.
    std::string nearest = {};
    std::string taken;                  ///< the plan that runs, and the source of the choice
    Traffic traffic;                    ///< compulsory bytes
    std::int64_t scratch_bytes = 0;     ///< memory on the GPU beside the arrays; 0 on the host
    std::string without_identity = {};  ///< why the plan does not use the identity; empty if it does
    bool on_host = false;               ///< true if no GPU folds; scratch memory is then not counted
    /// The sizes for which the stage was chosen, if the plan was resized since.
    std::string resized = {};
};

/// The bytes of scratch memory that a text needs for a workload on a device with `num_multiprocessors`.
std::int64_t scratch_bytes_of(const Emitted& emitted, const Workload& workload, int num_multiprocessors);
std::int64_t scratch_bytes_of(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);

/// "plan", "why", "record", "considered", ... as facts for a table.
std::vector<std::pair<std::string, std::string>> explain(const Explanation& explanation);

}  // namespace segfold
