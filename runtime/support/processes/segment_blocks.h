#pragma once
// Hands out segments to threads, a few neighbours at a time.
#include <cstdint>
#include <functional>

namespace segfold {

/// Number of threads to use for a request of `threads`; 0 requests all of the host's.
[[nodiscard]] int thread_count(int threads);

/// Calls `work(first, last)` for consecutive blocks of 0 to count - 1, on up to `threads` threads, and waits.
///
/// Any free thread takes the next block, so that a long segment delays its own block alone. If blocks throw,
/// the exception of the earliest block is rethrown here, for any number of threads. If the caller's work is
/// stopped, no further block begins, and Stopped is thrown.
void for_blocks(std::int64_t count, int threads,
                const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace segfold
