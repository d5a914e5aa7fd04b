#pragma once
// Splits a loop over the host's threads.
#include <cstdint>
#include <functional>

namespace segfold {

/// Calls `work(begin, end)` for consecutive parts of 0 to count - 1, on all usable cores, and waits.
///
/// Each part has at least `smallest` items, so short loops stay on this thread. Rethrows the first exception
/// of `work`. Throws Stopped if the WorkStopper of this thread is stopped.
void parallel_for(std::int64_t count, std::int64_t smallest,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& work);

}  // namespace segfold
