#pragma once
// What the tuning records say of a plan, as a document.
#include "runtime/cli/views/json.h"
#include "runtime/session/choice/explanation.h"

namespace segfold::cli {

Json json_of(const Explanation& explanation);

}  // namespace segfold::cli
