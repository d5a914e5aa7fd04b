#pragma once
// Why a plan was chosen, told to people.
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

/// A lookup with what it is about.
struct Explanation {
    Lookup lookup;
    std::string rule;                   ///< the plan of the rule of thumb, or why it did not choose
    std::string taken;                  ///< the plan that runs, and who chose it
    Traffic traffic;                    ///< compulsory bytes
    std::int64_t scratch_bytes = 0;     ///< of a GPU's memory, beside the arrays; 0 on the host
    std::string without_identity = {};  ///< why the plan does without the operator's; empty: it has it
    bool on_host = false;               ///< it runs on no GPU, so that scratch memory is not counted
    std::string resized = {};           ///< for which sizes the stage was chosen, where the plan has others
};

/// The scratch memory of a text for a workload on a device of so many multiprocessors.
std::int64_t scratch_bytes_of(const Emitted& emitted, const Workload& workload, int num_multiprocessors);
std::int64_t scratch_bytes_of(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);

/// "plan", "why", "record", "considered", ... as facts for a table.
std::vector<std::pair<std::string, std::string>> explain(const Explanation& explanation);

}  // namespace segfold
