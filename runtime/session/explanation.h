#pragma once
// Why a plan was chosen, told to people.
#include <string>
#include <utility>
#include <vector>

#include "runtime/session/lookup.h"
#include "runtime/session/traffic.h"

namespace segfold {

/// A lookup with what it is about.
struct Explanation {
    tune::Lookup lookup;
    std::string rule;                   ///< the plan of the rule of thumb, or why it did not choose
    std::string taken;                  ///< the plan that runs, and who chose it
    Traffic traffic;                    ///< compulsory bytes
    std::string without_identity = {};  ///< why the plan does without the operator's; empty: it has it
};

/// "plan", "why", "record", "considered", ... as facts for a table.
std::vector<std::pair<std::string, std::string>> explain(const Explanation& explanation);

}  // namespace segfold
