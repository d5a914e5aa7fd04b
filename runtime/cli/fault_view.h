#pragma once
// How a check shows what comes of a refuted law.
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/json.h"
#include "runtime/regress/fault_input.h"

namespace segfold::cli {

/// What refuted laws do through kernels, and the commands that show it; empty where there is nothing to show.
/// `arguments` name the operator.
std::string print_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                         const std::vector<regress::FaultInput>& faults);

/// The same as objects of the document.
Json json_of_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                    const std::vector<regress::FaultInput>& faults);

}  // namespace segfold::cli
