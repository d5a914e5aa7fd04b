#pragma once
// Runs check and regress in several processes (ranks) that MPI started together.
#include <functional>
#include <optional>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/agreed_ranks.h"

namespace segfold::cli {

/// Calls `judge` on every rank. Only rank 0 prints, and every rank returns rank 0's exit code.
///
/// If a rank fails, rank 0 prints the error once, and every rank returns the error's exit code. No rank
/// hangs. Ranks on the same host share its cores. All ranks must call this function.
[[nodiscard]] int judge_by_ranks(const Words& words, Communicator& ranks,
                                 const std::function<int(AgreedRanks& ranks)>& judge);

/// True if this process prints: it is rank 0, or the only process (`ranks` is null).
[[nodiscard]] inline bool prints(const AgreedRanks* ranks) { return ranks == nullptr || ranks->rank() == 0; }

/// Returns the ordinal of the GPU that this rank uses: the ranks of a host take its GPUs in turn. Returns
/// nothing if there is no GPU or --device is given.
[[nodiscard]] std::optional<int> device_of_rank(const Arguments& arguments, const Communicator& ranks);

/// Throws InputError if --slices or --devices is given, which are flags for a single process.
void refuse_spreading_flags(const Arguments& arguments);

}  // namespace segfold::cli
