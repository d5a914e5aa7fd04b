#pragma once
// Shows as JSON what the tuning records say about a plan.
#include "runtime/cli/views/json.h"
#include "runtime/session/choice/explanation.h"

namespace segfold::cli {

Json json_of(const Explanation& explanation);

}  // namespace segfold::cli
