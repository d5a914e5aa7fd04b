#pragma once
// The tuning records' explanation of a plan, as a document.
#include "runtime/cli/views/json.h"
#include "runtime/session/choice/explanation.h"

namespace segfold::cli {

Json json_of(const Explanation& explanation);

}  // namespace segfold::cli
