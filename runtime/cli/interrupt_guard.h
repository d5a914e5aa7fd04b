#pragma once
// Ctrl-C during work that has something to keep.

namespace segfold::cli {

/// While it lives, the first SIGINT or SIGTERM does not end the program; the second acts as without the
/// guard. One lives at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// The signal that came since the latest guard was made; 0 where none did. Any thread may ask.
    [[nodiscard]] static int signal();
};

}  // namespace segfold::cli
