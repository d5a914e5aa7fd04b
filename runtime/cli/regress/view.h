#pragma once
// The findings of segfold regress, as text and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/cli/regress/report.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Tables of all tries, then each broken relation and worse time with the command that shows it again.
[[nodiscard]] std::string print(const RegressReport& report);

/// The same as one document.
[[nodiscard]] Json json_of(const RegressReport& report);

}  // namespace segfold::cli
