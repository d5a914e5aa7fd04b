#pragma once
// Long work without the interpreter's lock, which Ctrl-C ends for the caller.
#include <functional>
#include <memory>
#include <vector>

#include "runtime/python/bind/arrays/array_in.h"

namespace segfold::python {

/// Runs `work` without the interpreter's lock; the caller holds it.
///
/// In the main thread a signal whose handler raises ends the wait: the exception is thrown at once. The work
/// goes on in a thread of its own until its next throw_if_stopped(); compilers that it runs are ended. So
/// `work` owns what it uses, and `arrays` stay until it is done.
void run_interruptible(std::function<void()> work, std::vector<ArrayIn>& arrays);

/// Does `work`, by run_interruptible() unless there are fewer than `few` elements.
void run_by_size(std::int64_t num_elements, std::int64_t few, const std::function<void()>& work,
                 std::vector<ArrayIn>& arrays);

/// Below this a fold is not worth a thread of its own, which Ctrl-C needs.
inline constexpr std::int64_t kElementsOfAShortFold = 1 << 14;

/// The same of a fold by a compiled native text, which takes some hundredths of a second.
inline constexpr std::int64_t kElementsOfAShortNativeFold = 1 << 25;

/// Waits for work that was left behind, which ends soon; for the interpreter's exit.
void wait_for_abandoned();

/// Remembers the main thread; at import.
void note_main_thread();

}  // namespace segfold::python
