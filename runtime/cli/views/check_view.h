#pragma once
// Shows the outcomes of a check for each stage and layout.
#include <functional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns the command that repeats an outcome, with the same number of elements.
using CommandOf = std::function<std::string(const regress::CheckOutcome& outcome)>;

/// Returns a report on a check, in tables and sentences.
std::string print_checks(const Operator& op, const regress::CheckRequest& request,
                         const regress::Check& check, const Backend& backend, const CommandOf& command_of);

/// Returns short descriptions of tests that the check omitted and that a user might expect.
std::vector<std::string> untried(const Operator& op, const regress::CheckRequest& request,
                                 const regress::CheckMatrix& matrix, const Backend& backend);

/// Joins the descriptions into one line that begins with "not tried: ".
std::string untried_line(const std::vector<std::string>& untried);

/// Returns the outcomes as JSON objects.
Json outcomes_of(const regress::CheckMatrix& matrix, const CommandOf& command_of);

/// Returns the smallest input on which a fold in slices still fails; null if there is none.
Json smallest_of(const regress::Check& check, const CommandOf& command_of);

}  // namespace segfold::cli
