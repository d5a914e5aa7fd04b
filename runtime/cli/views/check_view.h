#pragma once
// Shows the outcomes of a check: each stage on each layout.
#include <functional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// A function that returns the command that repeats an outcome, with the same number of elements.
using CommandOf = std::function<std::string(const regress::CheckOutcome& outcome)>;

/// Returns a description of a check's outcome in tables and sentences.
std::string print_checks(const Operator& op, const regress::CheckRequest& request,
                         const regress::Check& check, const Backend& backend, const CommandOf& command_of);

/// Returns short descriptions of tests that the check did not make, although a user might expect them.
std::vector<std::string> untried(const Operator& op, const regress::CheckRequest& request,
                                 const regress::CheckMatrix& matrix, const Backend& backend);

/// Joins the descriptions into one line that begins with "not tried: ".
std::string untried_line(const std::vector<std::string>& untried);

/// Returns the outcomes as JSON objects.
Json outcomes_of(const regress::CheckMatrix& matrix, const CommandOf& command_of);

/// Returns the smallest input that repeats the first failure of a fold in slices; null if there is none.
Json smallest_of(const regress::Check& check, const CommandOf& command_of);

}  // namespace segfold::cli
