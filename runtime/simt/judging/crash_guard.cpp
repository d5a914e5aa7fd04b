#include "runtime/simt/judging/crash_guard.h"

#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>

#include "runtime/simt/execution/worker.h"
#include "runtime/simt/judging/findings.h"

// The C library declares this member only by its internal name.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace segfold::simt {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// Size of the unmapped guard page below a stack, which a thread that overflows its stack touches first.
constexpr std::size_t kGuardBytes = 4096;
// A thread is in an endless loop if this many successive looks find it at the same step.
constexpr int kLooks = 4;

std::array<struct sigaction, kSignals.size()> previous_actions;

int timer_signal() { return SIGRTMAX - 3; }

std::uintptr_t program_counter(void* context)
{
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<std::uintptr_t>(machine.pc);
#else
    return 0;
#endif
}

/// True if `address` is so close below the running thread's stack that the stack must have overflowed.
bool overflows_stack(const Worker& worker, std::uintptr_t address)
{
    const std::uintptr_t low = worker.fiber().low;
    return address < low && low - address <= kGuardBytes;
}

std::string describe(int signal, std::uintptr_t address)
{
    if (signal == SIGFPE)
        return "divides by zero, or the lowest integer by -1";
    if (signal == SIGILL)
        return "reaches code that the compiler took for unreachable";
    return fmt::format("accesses address 0x{:x}, which is no memory", address);
}

/// Ends the launch from a signal handler that interrupted code of the text.
[[noreturn]] void abandon(Worker& worker, Fault fault, std::uintptr_t place, const std::string& what)
{
    try {
        // fail() expects a return address, which lies after the instruction.
        worker.fail(fault, place == 0 ? nullptr : reinterpret_cast<const void*>(place + 1), what);
    } catch (...) {}
    worker.leave();
}

void pass_on(int signal, siginfo_t* info, void* context)
{
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        if (kSignals[i] != signal)
            continue;
        const struct sigaction& previous = previous_actions[i];
        if ((previous.sa_flags & SA_SIGINFO) != 0)
            previous.sa_sigaction(signal, info, context);
        else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
            previous.sa_handler(signal);
        else
            sigaction(signal, &previous,
                      nullptr);  // the instruction runs again, now with the default action
    }
}

void on_crash(int signal, siginfo_t* info, void* context)
{
    Worker* worker = current_worker;
    const std::uintptr_t place = program_counter(context);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const bool bad_address = signal == SIGSEGV || signal == SIGBUS;
    // The stack may also overflow in a function of the executor that the text has called.
    if (worker != nullptr && worker->on_fiber() && bad_address && overflows_stack(*worker, address))
        abandon(*worker, Fault::out_of_bounds, worker->launch().module.owns(place) ? place : 0,
                "needs more than 64 KiB of stack for its local variables");
    if (worker == nullptr || !worker->on_fiber() || !worker->launch().module.owns(place)) {
        pass_on(signal, info, context);
        return;
    }
    abandon(*worker, bad_address ? Fault::out_of_bounds : Fault::undefined_behaviour, place,
            describe(signal, address));
}

void on_timer(int, siginfo_t*, void* context)
{
    Worker* worker = current_worker;
    const std::uintptr_t place = program_counter(context);
    if (worker != nullptr && worker->on_fiber() && worker->launch().module.owns(place) &&
        worker->looks_at_same_step() >= kLooks)
        abandon(*worker, Fault::no_progress, place,
                fmt::format("computes for {} seconds without reading memory or waiting",
                            worker->launch().options.endless_seconds));
}

void install_handlers()
{
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_crash;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &action, &previous_actions[i]);
    action.sa_sigaction = on_timer;
    sigaction(timer_signal(), &action, nullptr);
}

}  // namespace

CrashGuard::CrashGuard(double endless_seconds)
{
    static std::once_flag once;
    std::call_once(once, install_handlers);
    stack_ = std::make_unique<std::byte[]>(kStackBytes);
    stack_t stack{};
    stack.ss_sp = stack_.get();
    stack.ss_size = kStackBytes;
    sigaltstack(&stack, &previous_stack_);
    if (endless_seconds <= 0)
        return;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timer_signal();
    event.sigev_notify_thread_id = gettid();
    has_timer_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    if (!has_timer_)
        return;
    const double period = endless_seconds / kLooks;
    itimerspec times{};
    times.it_interval.tv_sec = static_cast<time_t>(period);
    times.it_interval.tv_nsec =
        static_cast<long>((period - static_cast<double>(times.it_interval.tv_sec)) * 1e9);
    times.it_value = times.it_interval;
    timer_settime(timer_, 0, &times, nullptr);
}

CrashGuard::~CrashGuard()
{
    if (has_timer_)
        timer_delete(timer_);
    sigaltstack(&previous_stack_, nullptr);
}

}  // namespace segfold::simt
