#pragma once
// A check's table of stages over layouts.
#include <functional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// The command that meets an outcome again, by its number of elements.
using CommandOf = std::function<std::string(const regress::CheckOutcome& outcome)>;

/// Tables and sentences.
std::string print_checks(const Operator& op, const regress::CheckRequest& request,
                         const regress::Check& check, const Backend& backend, const CommandOf& command_of);

/// Facts that a user might take for checked and that were not; each a few words.
std::vector<std::string> untried(const Operator& op, const regress::CheckRequest& request,
                                 const regress::CheckMatrix& matrix, const Backend& backend);

/// "not tried: ..., ..." in one line.
std::string untried_line(const std::vector<std::string>& untried);

/// The outcomes as objects of the document.
Json outcomes_of(const regress::CheckMatrix& matrix, const CommandOf& command_of);

/// The first failure over parts, with the fewest elements that show it; null without any.
Json smallest_of(const regress::Check& check, const CommandOf& command_of);

}  // namespace segfold::cli
