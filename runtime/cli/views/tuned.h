#pragma once
// Converts the explanation of a chosen plan to JSON.
#include "runtime/cli/views/json.h"
#include "runtime/session/choice/explanation.h"

namespace segfold::cli {

Json json_of(const Explanation& explanation);

}  // namespace segfold::cli
