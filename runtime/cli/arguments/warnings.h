#pragma once
// Warnings of a verb: a line each, and all of them with --explain.
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Writes warnings to standard error: whole with --explain, else their first lines, with a hint how to see
/// the rest.
void write_warnings(const Arguments& arguments, const std::vector<std::string>& warnings);

}  // namespace segfold::cli
