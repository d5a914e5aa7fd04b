#pragma once
// Explains the choice of a plan to users.
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

/// The facts that explain a choice, including the lookup in the tuning records.
struct Explanation {
    Lookup lookup;
    /// The plan that the rule of thumb chose, or why it did not choose.
    std::string rule;
    /// The three best-ranked stages, each with its expected rate as a share of the best stage's rate; empty
    /// if measured rows do not rank stages.
    std::string expected = {};
    /// The nearest measured workload, with its three best stages and their shares; empty if `expected` is
    /// empty.
    std::string nearest = {};
    std::string taken;                  ///< the plan that runs, and how it was chosen
    Traffic traffic;                    ///< compulsory bytes
    std::int64_t scratch_bytes = 0;     ///< scratch memory on the GPU; 0 on the host
    std::string without_identity = {};  ///< why the plan does not use the identity; empty if it does
    bool on_host = false;               ///< true if the host folds, where scratch memory is not counted
    /// Empty if the plan has its first sizes. After a resize, names the present sizes, the sizes for which
    /// the stage was chosen, and the plan that would be chosen now.
    std::string resized = {};
};

/// Returns the bytes of scratch memory that a text needs for a workload on a device with
/// `num_multiprocessors`.
std::int64_t scratch_bytes_of(const Emitted& emitted, const Workload& workload, int num_multiprocessors);
std::int64_t scratch_bytes_of(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);

/// Returns pairs of a heading and a text. Headings are "plan", "why", "record", "considered", ...
std::vector<std::pair<std::string, std::string>> explain(const Explanation& explanation);

}  // namespace segfold
