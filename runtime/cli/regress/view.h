#pragma once
// What segfold regress has found, as text and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/cli/regress/report.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Tables of what was tried, then whatever is broken or worse, each with what shows it again.
[[nodiscard]] std::string print(const RegressReport& report);

/// The same as one document.
[[nodiscard]] Json json_of(const RegressReport& report);

}  // namespace segfold::cli
