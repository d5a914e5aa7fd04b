#pragma once
// Turns crashes and endless loops of a compiled text into faults of its launch.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>

namespace segfold::simt {

/// Watches the calling OS thread while it runs kernels.
///
/// The launch ends with a fault at a division by zero, and when a thread computes for `endless_seconds` of
/// processor time without reading memory or waiting. It also ends at a bad address that no check saw, in a
/// program without checks or when a stack overflows. A signal from other code goes to the handler that was
/// installed before.
class CrashGuard {
public:
    explicit CrashGuard(double endless_seconds);
    CrashGuard(const CrashGuard&) = delete;
    CrashGuard& operator=(const CrashGuard&) = delete;
    ~CrashGuard();

private:
    std::unique_ptr<std::byte[]> stack_;
    stack_t previous_stack_{};
    timer_t timer_{};
    bool has_timer_ = false;
};

}  // namespace segfold::simt
