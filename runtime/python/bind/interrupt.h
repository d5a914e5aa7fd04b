#pragma once
// Runs long work without the interpreter's lock, so that Ctrl-C ends the caller's wait.
#include <functional>
#include <memory>
#include <vector>

#include "runtime/python/bind/arrays/array_in.h"

namespace segfold::python {

/// Runs `work` without the interpreter's lock; the caller holds the lock.
///
/// In the main thread, an exception from a signal handler ends the wait at once and is thrown. The work then
/// goes on in its own thread until its next throw_if_stopped(), and the compilers that it has started are
/// ended. `work` must therefore own everything that it uses. `arrays` are kept alive until the work is done.
void run_interruptible(std::function<void()> work, std::vector<ArrayIn>& arrays);

/// Runs `work` directly if there are fewer than `few` elements; else calls run_interruptible().
void run_by_size(std::int64_t num_elements, std::int64_t few, const std::function<void()>& work,
                 std::vector<ArrayIn>& arrays);

/// Folds of fewer elements run directly: they are too short for the separate thread that Ctrl-C needs.
inline constexpr std::int64_t kElementsOfAShortFold = 1 << 14;

/// The same limit for compiled native folds. A fold of this size takes some hundredths of a second.
inline constexpr std::int64_t kElementsOfAShortNativeFold = 1 << 25;

/// Waits for the end of work whose caller was interrupted. Called at the interpreter's exit.
void wait_for_abandoned();

/// Remembers the current thread as the main thread. Called at import.
void note_main_thread();

}  // namespace segfold::python
