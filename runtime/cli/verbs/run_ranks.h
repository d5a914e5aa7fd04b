#pragma once
// Implements segfold run with several MPI processes (ranks).
#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/communicator.h"

namespace segfold::cli {

/// Runs on all ranks and returns the exit code. Each rank reads and folds its own part of the data.
///
/// Rank 0 writes the files of --output, the tables and the messages. If a rank fails before folding, rank 0
/// prints one message, and all ranks return the same exit code. If a rank fails while folding, it prints the
/// error itself and stops the other ranks.
[[nodiscard]] int run_ranks(const Words& words, const Arguments& arguments, Communicator& ranks);

}  // namespace segfold::cli
