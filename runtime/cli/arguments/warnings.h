#pragma once
// Prints warnings of a verb: one line each, or in full with --explain.
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Writes warnings to standard error. With --explain in full; otherwise the first line of each, with a hint
/// at --explain if there is more.
void write_warnings(const Arguments& arguments, const std::vector<std::string>& warnings);

}  // namespace segfold::cli
