#pragma once
// A caller's wishes for a plan.
#include <map>
#include <optional>
#include <string>

#include "codegen/numbers.h"

namespace segfold {

class Backend;

/// A caller's wishes for a plan. Tuning records and the rule of thumb decide everything else.
struct PlanRequest {
    std::optional<std::string> stage = {};
    std::map<std::string, int> settings = {};  ///< tunables by name
    /// If true, the order of combination depends on the data alone; then `stage` and `settings` must be
    /// empty.
    bool is_reproducible = false;
    Numbers numbers = Numbers::constant;

    /// True if a tuning record may choose.
    [[nodiscard]] bool is_open() const { return !stage && settings.empty() && !is_reproducible; }
};

/// Throws InputError if a stage or settings are requested from a back end that runs no stages.
void require_stages(const PlanRequest& request, const Backend& backend);

}  // namespace segfold
