#pragma once
// Ranks that are threads of one process, for machines on which nothing starts several processes.
#include <functional>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Calls `work` as each of `size` ranks, at the same time, and waits for all.
///
/// The caller's WorkStopper stops all of them. Throws the exception of the first rank that failed. When a
/// rank has ended, calls of other ranks that wait for it throw InternalError. Communicator::abort() ends the
/// process.
void run_thread_ranks(int size, const std::function<void(Communicator& ranks)>& work);

}  // namespace segfold
