#pragma once
// Warnings of a verb: a line each, and all of them with --explain.
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Writes warnings to standard error: all of each with --explain, else its first line, with a hint at what
/// shows more where there is more.
void write_warnings(const Arguments& arguments, const std::vector<std::string>& warnings);

}  // namespace segfold::cli
