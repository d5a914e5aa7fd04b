#pragma once
// Ranks that are threads of one process, for machines without mpirun.
#include <functional>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Calls `work` in `size` threads at the same time, one for each rank, and waits for all threads.
///
/// The caller's WorkStopper stops all ranks. Throws the exception of the first failed rank. If a rank has
/// ended, calls of other ranks that wait for this rank throw InternalError. Communicator::abort() ends the
/// process.
void run_thread_ranks(int size, const std::function<void(Communicator& ranks)>& work);

}  // namespace segfold
