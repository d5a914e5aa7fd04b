#pragma once
// Catches Ctrl-C during work whose results so far must be saved.

namespace segfold::cli {

/// While a guard exists, the first SIGINT or SIGTERM does not end the program. A second signal is handled as
/// it was without the guard. Only one guard may exist at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Returns the signal received since the latest guard was made; 0 if none. Any thread may call it.
    [[nodiscard]] static int signal();
};

}  // namespace segfold::cli
