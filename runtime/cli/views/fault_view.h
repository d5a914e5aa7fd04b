#pragma once
// Shows wrong results that refuted laws cause, and commands that repeat a check's findings.
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Describes `faults`, wrong results of kernels that rely on a refuted law, each with the command that shows
/// it. Returns an empty text if there are none. `arguments` names the operator.
std::string print_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                         const std::vector<regress::FaultInput>& faults);

/// Returns the content of print_faults() as JSON objects.
Json json_of_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                    const std::vector<regress::FaultInput>& faults);

/// Returns the command that repeats a stage's failure; empty if Thrust failed. `request` must be made from
/// `arguments`.
std::string command_of(const Arguments& arguments, const Backend& backend,
                       const regress::CheckRequest& request, const regress::CheckOutcome& outcome);

}  // namespace segfold::cli
