#pragma once
// Verbs that judge, in several processes started by MPI.
#include <functional>
#include <optional>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/agreed_ranks.h"

namespace segfold::cli {

/// Calls `judge` on every rank. All return rank 0's exit code; rank 0 alone prints.
///
/// If one rank fails, rank 0 tells it once and all return its exit code: none of them hangs. Cores of a host
/// are shared among its ranks. Collective.
[[nodiscard]] int judge_by_ranks(const Words& words, Communicator& ranks,
                                 const std::function<int(AgreedRanks& ranks)>& judge);

/// Whether this process prints: it is alone, or rank 0.
[[nodiscard]] inline bool prints(const AgreedRanks* ranks) { return ranks == nullptr || ranks->rank() == 0; }

/// The GPU of a rank by its place on its host, in turn; nothing without a GPU, or if --device names one.
[[nodiscard]] std::optional<int> device_of_rank(const Arguments& arguments, const Communicator& ranks);

/// Throws InputError where flags are given that are about one process: --slices, --devices.
void refuse_spreading_flags(const Arguments& arguments);

}  // namespace segfold::cli
