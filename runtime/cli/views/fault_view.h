#pragma once
// A check's text on the consequence of a refuted law, and the commands that show its findings again.
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// The wrong results of kernels by refuted laws, and the commands that show them; "" without any. `arguments`
/// name the operator.
std::string print_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                         const std::vector<regress::FaultInput>& faults);

/// The same as objects of the document.
Json json_of_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                    const std::vector<regress::FaultInput>& faults);

/// The command that meets the failure of a stage again; empty where Thrust alone is wrong. `request` is that
/// of `arguments`.
std::string command_of(const Arguments& arguments, const Backend& backend,
                       const regress::CheckRequest& request, const regress::CheckOutcome& outcome);

}  // namespace segfold::cli
