#pragma once
// segfold run in several processes started together by MPI.
#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/communicator.h"

namespace segfold::cli {

/// Runs on ranks and returns the exit code. Each rank reads and folds its own part of the data.
///
/// Rank 0 writes the files of --output, tables and messages. A failure before folding ends all ranks with one
/// message and one exit code. If a rank fails while folding, it prints the error and ends the others.
[[nodiscard]] int run_ranks(const Words& words, const Arguments& arguments, Communicator& ranks);

}  // namespace segfold::cli
