#pragma once
// Runs long work without the interpreter's lock, so that Ctrl-C can interrupt the caller.
#include <functional>
#include <memory>
#include <vector>

#include "runtime/python/bind/arrays/array_in.h"

namespace segfold::python {

/// Runs `work` without the interpreter's lock. The caller must hold the lock.
///
/// In the main thread, an exception from a signal handler ends the wait at once and is thrown. The work then
/// continues in its own thread until its next throw_if_stopped(), and its compiler processes are ended.
/// `work` must therefore own everything that it uses. `arrays` are kept alive until the work is done.
void run_interruptible(std::function<void()> work, std::vector<ArrayIn>& arrays);

/// Runs `work` directly if there are fewer than `few` elements. Otherwise calls run_interruptible().
void run_by_size(std::int64_t num_elements, std::int64_t few, const std::function<void()>& work,
                 std::vector<ArrayIn>& arrays);

/// Folds with fewer elements run directly, because they are too short to pay for the thread that Ctrl-C
/// requires.
inline constexpr std::int64_t kElementsOfAShortFold = 1 << 14;

/// The same limit for folds in compiled native code. A fold of this size takes some hundredths of a second.
inline constexpr std::int64_t kElementsOfAShortNativeFold = 1 << 25;

/// Waits until work whose callers were interrupted has ended. Called when the interpreter exits.
void wait_for_abandoned();

/// Stores the current thread as the main thread. Called at import.
void note_main_thread();

}  // namespace segfold::python
