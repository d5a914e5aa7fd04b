#pragma once
// Ranks that are threads of one process: what several processes would do, where nothing has started several.
#include <functional>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Calls `work` as each of `size` ranks, at the same time, and waits for all.
///
/// They work for the caller's WorkStopper. Throws what the first rank that failed has thrown. A rank that has
/// left ends those that wait for it: their calls throw InternalError. Communicator::abort() ends the process.
void run_thread_ranks(int size, const std::function<void(Communicator& ranks)>& work);

}  // namespace segfold
