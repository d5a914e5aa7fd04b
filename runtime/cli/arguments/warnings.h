#pragma once
// Prints a verb's warnings, briefly or in full.
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Writes warnings to standard error. With --explain, writes them in full. Otherwise writes the first line of
/// each, and names the command that shows the rest.
void write_warnings(const Arguments& arguments, const std::vector<std::string>& warnings);

}  // namespace segfold::cli
