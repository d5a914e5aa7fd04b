#pragma once
// Hands out blocks of neighbouring segments to threads.
#include <cstdint>
#include <functional>

namespace segfold {

/// Returns the number of threads to use: `threads` if positive, else the number of usable cores.
[[nodiscard]] int thread_count(int threads);

/// Calls `work(first, last)` for consecutive blocks of 0 to count - 1, on up to `threads` threads, and waits.
///
/// Any free thread takes the next block, so that a long segment delays only its own block. If several blocks
/// throw, rethrows the exception of the first of these blocks, whatever the number of threads. If the
/// WorkStopper of this thread is stopped, starts no further block and throws Stopped.
void for_blocks(std::int64_t count, int threads,
                const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace segfold
