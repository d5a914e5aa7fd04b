#pragma once
// Runs verbs that judge in several processes started together by MPI.
#include <functional>
#include <optional>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/agreed_ranks.h"

namespace segfold::cli {

/// Calls `judge` on every rank. Returns on all of them the exit code of rank 0, which alone prints.
///
/// If a rank fails, rank 0 prints the error once, and every rank returns its exit code; no rank hangs. Ranks
/// of a host share its cores. All ranks must call this.
[[nodiscard]] int judge_by_ranks(const Words& words, Communicator& ranks,
                                 const std::function<int(AgreedRanks& ranks)>& judge);

/// Whether this process prints: it is the only one, or rank 0.
[[nodiscard]] inline bool prints(const AgreedRanks* ranks) { return ranks == nullptr || ranks->rank() == 0; }

/// Returns the GPU for a rank: ranks of a host take its GPUs in turn. Returns nothing if there is no GPU or
/// --device is given.
[[nodiscard]] std::optional<int> device_of_rank(const Arguments& arguments, const Communicator& ranks);

/// Throws InputError if flags for a single process are given: --slices, --devices.
void refuse_spreading_flags(const Arguments& arguments);

}  // namespace segfold::cli
