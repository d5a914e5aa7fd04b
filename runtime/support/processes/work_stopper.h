#pragma once
// Stops work whose result is no longer wanted, and the programs that it runs.
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace segfold {

/// Stops a piece of work. Its loops end at their next throw_if_stopped(). Its programs, started by
/// run_stoppable(), end at once.
class WorkStopper {
public:
    /// While this object lives, this thread works for `stopper`. stop_flag() then returns the stopper's flag,
    /// and stop() ends the programs that run_stoppable() started on this thread. A loop over several threads
    /// passes the stopper to its threads.
    class Here {
    public:
        explicit Here(std::shared_ptr<WorkStopper> stopper);
        ~Here();
        Here(const Here&) = delete;
        Here& operator=(const Here&) = delete;

    private:
        std::shared_ptr<WorkStopper> outer_;
        const std::atomic<bool>* outer_flag_;
    };

    /// Sets the flag, ends all running programs and their child processes, and prevents further programs from
    /// starting. Any thread may call it.
    void stop();

    /// The stopper of this thread, or null.
    [[nodiscard]] static std::shared_ptr<WorkStopper> here();
    /// Starts a program by calling `spawn`, which must make the program lead a process group. Returns 0
    /// without a start if stop() was called before.
    [[nodiscard]] pid_t start(const std::function<pid_t()>& spawn);
    /// Forgets a program that has ended. Must be called before the system may reuse the process number.
    void forget(pid_t leader);
    [[nodiscard]] bool is_stopped() const { return is_stopped_; }

private:
    std::mutex mutex_;
    std::vector<pid_t> leaders_;
    std::atomic<bool> is_stopped_ = false;
};

}  // namespace segfold
