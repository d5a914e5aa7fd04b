#pragma once
// Verbs that judge, in several processes which MPI has started together.
#include <functional>
#include <optional>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/ranks/agreed_ranks.h"

namespace segfold::cli {

/// Calls `judge` on every rank, and gives all the exit code that it has at rank 0, which alone prints.
///
/// A failure of any rank is told once, by rank 0, and is the exit code of all: none of them hangs. Cores of a
/// host are shared among its ranks. Collective.
[[nodiscard]] int judge_by_ranks(const Words& words, Communicator& ranks,
                                 const std::function<int(AgreedRanks& ranks)>& judge);

/// Whether this process prints: it is alone, or rank 0.
[[nodiscard]] inline bool prints(const AgreedRanks* ranks) { return ranks == nullptr || ranks->rank() == 0; }

/// The GPU of a rank's place on its host in turn; nothing where there is none, or --device names one.
[[nodiscard]] std::optional<int> device_of_rank(const Arguments& arguments, const Communicator& ranks);

/// Throws InputError where flags are given that are about one process: --slices, --devices.
void refuse_spreading_flags(const Arguments& arguments);

}  // namespace segfold::cli
