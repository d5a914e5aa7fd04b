#pragma once
// Catches Ctrl-C during work whose results so far must still be saved.

namespace segfold::cli {

/// While a guard exists, the first SIGINT or SIGTERM is only recorded. A second one acts as if there were no
/// guard. At most one guard may exist at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Returns the signal received since the last guard was made; 0 if none. Any thread may call this.
    [[nodiscard]] static int signal();
};

}  // namespace segfold::cli
