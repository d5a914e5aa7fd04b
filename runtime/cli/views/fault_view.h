#pragma once
// Shows the effect of refuted laws in a check, and the commands that repeat its findings.
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns the effects of refuted laws through kernels, and the commands that show them; empty if there are
/// none. `arguments` name the operator.
std::string print_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                         const std::vector<regress::FaultInput>& faults);

/// Returns the effects of refuted laws and the commands that show them as JSON objects.
Json json_of_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                    const std::vector<regress::FaultInput>& faults);

/// Returns the command that repeats a stage's failure; empty if only Thrust is wrong. `request` must be that
/// of `arguments`.
std::string command_of(const Arguments& arguments, const Backend& backend,
                       const regress::CheckRequest& request, const regress::CheckOutcome& outcome);

}  // namespace segfold::cli
