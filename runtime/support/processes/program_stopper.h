#pragma once
// Ending the programs of work that nobody waits for any more.
#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace segfold {

/// Ends the programs that run_stoppable() runs for a piece of work.
class ProgramStopper {
public:
    /// While it lives, run_stoppable() on this thread runs programs for the work of `stopper`.
    class Here {
    public:
        explicit Here(std::shared_ptr<ProgramStopper> stopper);
        ~Here();
        Here(const Here&) = delete;
        Here& operator=(const Here&) = delete;

    private:
        std::shared_ptr<ProgramStopper> outer_;
    };

    /// Ends the programs, with all that they have started, and lets no other begin. From any thread.
    void stop();

    /// The one of this thread; null without.
    [[nodiscard]] static std::shared_ptr<ProgramStopper> here();
    /// Starts a program by `spawn`, which makes it lead a process group; 0 where stop() was called before.
    [[nodiscard]] pid_t start(const std::function<pid_t()>& spawn);
    /// Forgets a program that has ended, before anybody else may get its number.
    void forget(pid_t leader);
    [[nodiscard]] bool is_stopped();

private:
    std::mutex mutex_;
    std::vector<pid_t> leaders_;
    bool is_stopped_ = false;
};

}  // namespace segfold
