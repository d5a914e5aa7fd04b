#pragma once
// Converts the findings of segfold regress to text and JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/cli/regress/report.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns tables of all outcomes. Below them stand the broken relations and the costs and times that got
/// worse, each with the command that repeats it.
[[nodiscard]] std::string print(const RegressReport& report);

/// Returns the findings as one JSON document.
[[nodiscard]] Json json_of(const RegressReport& report);

}  // namespace segfold::cli
