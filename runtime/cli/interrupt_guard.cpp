#include "runtime/cli/interrupt_guard.h"

#include <array>
#include <csignal>
#include <cstddef>

namespace segfold::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};

volatile std::sig_atomic_t came = 0;
std::array<struct sigaction, kSignals.size()> actions_before;

void put_back()
{
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &actions_before[i], nullptr);
}

/// Records the signal. Calls only async-signal-safe functions.
void on_signal(int signal)
{
    came = signal;
    put_back();
}

}  // namespace

InterruptGuard::InterruptGuard()
{
    came = 0;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;  // the handler gets its own stack, because a fiber's stack is small
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], nullptr, &actions_before[i]);
        if (actions_before[i].sa_handler != SIG_IGN)
            sigaction(kSignals[i], &action, nullptr);
    }
}

InterruptGuard::~InterruptGuard() { put_back(); }

int InterruptGuard::signal() { return came; }

}  // namespace segfold::cli
