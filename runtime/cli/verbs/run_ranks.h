#pragma once
// Implements segfold run in several processes, ranks of MPI.
#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/communicator.h"

namespace segfold::cli {

/// Runs on all ranks and returns the exit code. Each rank reads and folds its own part of the data.
///
/// Rank 0 writes the files of --output, tables and messages. After a failure before folding, rank 0 prints
/// one message and all ranks return the same exit code. A rank that fails while folding prints the error and
/// ends the other ranks.
[[nodiscard]] int run_ranks(const Words& words, const Arguments& arguments, Communicator& ranks);

}  // namespace segfold::cli
