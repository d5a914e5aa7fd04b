#pragma once
// segfold run in several processes started by MPI.
#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/communicator.h"

namespace segfold::cli {

/// The exit code of a run by ranks. Each rank reads and folds its own part of the data.
///
/// Rank 0 writes the files of --output, tables and messages. A failure before folding ends all ranks with one
/// message and one exit code; one while they fold is told by the rank that meets it, and ends the others.
[[nodiscard]] int run_ranks(const Words& words, const Arguments& arguments, Communicator& ranks);

}  // namespace segfold::cli
