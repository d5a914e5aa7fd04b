#pragma once
// Runs check and regress in several processes (ranks) that MPI started together.
#include <functional>
#include <optional>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/agreed_ranks.h"

namespace segfold::cli {

/// Calls `judge` on every rank. Only rank 0 prints. Every rank returns the exit code of rank 0.
///
/// If a rank fails, rank 0 prints its error once, every rank returns the error's exit code, and no rank
/// hangs. Ranks on the same host share its cores. All ranks must call this function.
[[nodiscard]] int judge_by_ranks(const Words& words, Communicator& ranks,
                                 const std::function<int(AgreedRanks& ranks)>& judge);

/// True if this process prints. It is then rank 0, or the only process (`ranks` is null).
[[nodiscard]] inline bool prints(const AgreedRanks* ranks) { return ranks == nullptr || ranks->rank() == 0; }

/// Returns the ordinal of the GPU for this rank. The ranks of a host are assigned to its GPUs in turn.
/// Returns nothing if there is no GPU or --device is given.
[[nodiscard]] std::optional<int> device_of_rank(const Arguments& arguments, const Communicator& ranks);

/// Throws InputError if --slices or --devices is given, because these flags are for a single process.
void refuse_spreading_flags(const Arguments& arguments);

}  // namespace segfold::cli
