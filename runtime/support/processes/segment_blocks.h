#pragma once
// Dealing segments out to threads, a few neighbours at a time.
#include <cstdint>
#include <functional>

namespace segfold {

/// Number of threads to use where the caller asked for `threads`; 0 asks for all of the host's.
[[nodiscard]] int thread_count(int threads);

/// Calls `work(first, last)` for consecutive blocks of 0 .. count - 1, on up to `threads` threads, and waits.
///
/// Blocks are handed to whichever thread is free, so that a long segment delays its own block alone. When
/// blocks throw, the exception of the earliest one is thrown here, whatever the number of threads. Where the
/// caller's work is stopped, no other block begins, and Stopped is thrown.
void for_blocks(std::int64_t count, int threads,
                const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace segfold
