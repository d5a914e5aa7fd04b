#pragma once
// A caller's requests for a plan.
#include <map>
#include <optional>
#include <string>

#include "codegen/numbers.h"

namespace segfold {

class Backend;

/// A caller's requests for a plan. Tuning records and the rule of thumb decide everything else.
struct PlanRequest {
    std::optional<std::string> stage = {};
    std::map<std::string, int> settings = {};  ///< values of tunables, by their names
    /// If true, the order of combination depends only on the data; `stage` and `settings` must then be empty.
    bool is_reproducible = false;
    Numbers numbers = Numbers::constant;

    /// True if a tuning record may choose the plan.
    [[nodiscard]] bool is_open() const { return !stage && settings.empty() && !is_reproducible; }
};

/// Throws InputError if a stage or settings are requested from a back end that runs no stages.
void require_stages(const PlanRequest& request, const Backend& backend);

}  // namespace segfold
