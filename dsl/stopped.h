#pragma once
// Long work that ends before it is done, because nobody waits for it any more.
#include <atomic>
#include <exception>

namespace segfold {

/// Thrown by stopped work. It is no Error: code that turns failures into findings lets it pass.
class Stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override;
};

/// The flag at which work on this thread looks; null where it looks at none.
[[nodiscard]] const std::atomic<bool>* stop_flag();

/// Lets work on this thread look at `flag`, which must outlive it; gives the flag from before.
const std::atomic<bool>* exchange_stop_flag(const std::atomic<bool>* flag);

/// Throws Stopped where this thread's flag is set. Long loops call it, some times a second at least.
void throw_if_stopped();

/// Elements that loops over elements take between two calls of throw_if_stopped(), some milliseconds.
inline constexpr int kElementsBetweenLooks = 1 << 16;

}  // namespace segfold
