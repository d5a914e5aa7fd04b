#pragma once
// The program's messages for failed commands.
#include <exception>
#include <string>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Why a command failed.
struct Failure {
    std::string kind;  ///< "specification", "input", "device" or "internal"
    int exit_code = 0;
    std::string message;
};

/// The failure that an exception stands for.
[[nodiscard]] Failure failure_of(const std::exception& error);

/// Writes the message to standard error and, where the command line `words` ask for --json, a document with
/// its parts to standard output. Returns the exit code.
int report(const Words& words, const Failure& failure);

}  // namespace segfold::cli
