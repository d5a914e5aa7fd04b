#pragma once
// Reports a failed command.
#include <exception>
#include <string>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Category, exit code and message of a failure.
struct Failure {
    std::string kind;  ///< "specification", "input", "device" or "internal"
    int exit_code = 0;
    std::string message;
};

/// Returns the category, exit code and message of an exception.
[[nodiscard]] Failure failure_of(const std::exception& error);

/// Writes the message to standard error. If the command line `words` contains --json, also writes the failure
/// as a JSON document to standard output. Returns the failure's exit code.
int report(const Words& words, const Failure& failure);

}  // namespace segfold::cli
