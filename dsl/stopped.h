#pragma once
// Ends long work early if nobody waits for its result any more.
#include <atomic>
#include <exception>

namespace segfold {

/// Thrown by work that was stopped. It is not an Error, so code that catches Error lets it pass.
class Stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override;
};

/// Returns the flag that stops work on this thread; null if there is none.
[[nodiscard]] const std::atomic<bool>* stop_flag();

/// Sets the flag that stops work on this thread. `flag` must outlive the work. Returns the previous flag.
const std::atomic<bool>* exchange_stop_flag(const std::atomic<bool>* flag);

/// Throws Stopped if this thread's flag is set. Long loops should call it several times a second.
void throw_if_stopped();

/// Number of elements between two calls of throw_if_stopped() in a loop. They take some milliseconds.
inline constexpr int kElementsBetweenLooks = 1 << 16;

}  // namespace segfold
