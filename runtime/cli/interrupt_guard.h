#pragma once
// Handles Ctrl-C during work whose results must be kept.

namespace segfold::cli {

/// While a guard exists, the first SIGINT or SIGTERM does not end the program; the second acts as before.
/// Only one guard may exist at a time.
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
