#pragma once
// Ending work that nobody waits for any more, with the programs that it runs.
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace segfold {

/// Ends a piece of work: its loops at their next throw_if_stopped(), and the programs that run_stoppable()
/// runs for it.
class WorkStopper {
public:
    /// While it lives, this thread works for `stopper`: its stop_flag() is that of the stopper, and
    /// run_stoppable() runs programs for it. A loop over several threads hands it on to them.
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

    /// Sets the flag, ends the programs, with all that they have started, and lets no other begin. From any
    /// thread.
    void stop();

    /// The one of this thread; null without.
    [[nodiscard]] static std::shared_ptr<WorkStopper> here();
    /// Starts a program by `spawn`, which makes it lead a process group; 0 where stop() was called before.
    [[nodiscard]] pid_t start(const std::function<pid_t()>& spawn);
    /// Forgets a program that has ended, before anybody else may get its number.
    void forget(pid_t leader);
    [[nodiscard]] bool is_stopped() const { return is_stopped_; }

private:
    std::mutex mutex_;
    std::vector<pid_t> leaders_;
    std::atomic<bool> is_stopped_ = false;
};

}  // namespace segfold
