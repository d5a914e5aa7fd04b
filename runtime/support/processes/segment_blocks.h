#pragma once
// Hands out blocks of neighbouring segments to threads.
#include <cstdint>
#include <functional>

namespace segfold {

/// Number of threads to use: `threads` if positive, else the number of usable cores.
[[nodiscard]] int thread_count(int threads);

/// Calls `work(first, last)` for consecutive blocks of 0 to count - 1, on up to `threads` threads, and waits.
///
/// Any free thread takes the next block, so that a long segment delays only its own block. If blocks throw,
/// rethrows the exception of the earliest block, for any number of threads. If the WorkStopper of this thread
/// is stopped, begins no further block and throws Stopped.
void for_blocks(std::int64_t count, int threads,
                const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace segfold
