#pragma once
// What a caller decides of a plan.
#include <map>
#include <optional>
#include <string>

#include "codegen/numbers.h"

namespace segfold {

class Backend;

/// What a caller decides of a plan. What is left open, the records and the rule of thumb decide.
struct PlanRequest {
    std::optional<std::string> stage = {};
    std::map<std::string, int> settings = {};  ///< tunables by name
    /// The order of combination is to follow from the data alone; neither stage nor settings go with it.
    bool is_reproducible = false;
    Numbers numbers = Numbers::constant;

    /// True where a tuning record may choose.
    [[nodiscard]] bool is_open() const { return !stage && settings.empty() && !is_reproducible; }
};

/// Throws InputError where a stage or settings are asked of a back end that runs no stages.
void require_stages(const PlanRequest& request, const Backend& backend);

}  // namespace segfold
