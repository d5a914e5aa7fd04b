#pragma once
// Prints warnings of a verb: one line each, or in full with --explain.
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Writes warnings to standard error, in full with --explain. Otherwise writes the first line of each, and
/// names the command that shows the other lines.
void write_warnings(const Arguments& arguments, const std::vector<std::string>& warnings);

}  // namespace segfold::cli
