#pragma once
// Threads that stay, for loops that are run often.
#include <cstdint>
#include <functional>
#include <memory>

namespace segfold {

/// The cores that this process may run on: those of its affinity mask.
[[nodiscard]] int num_usable_cores();

/// Threads that wait for loops; the caller's thread works with them.
class ThreadPool {
public:
    /// With `threads` threads in all, the caller's among them; they are started by the first loop.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// The process's own pool, of all usable cores.
    static ThreadPool& shared();

    /// Ends its threads, when they have done the loop that is under way.
    void end();

    [[nodiscard]] int threads() const { return threads_; }

    /// Calls `work(i)` for 0 .. count - 1, each once and in any order, and waits. `work` must not throw, nor
    /// run a loop itself. Loops of several callers take turns. Where the caller's work is stopped, no other
    /// part begins, and Stopped is thrown. After end() the caller's thread does all of it.
    void run(std::int64_t count, const std::function<void(std::int64_t)>& work);

private:
    struct Shared;
    /// Shows a loop to the threads; false where they have ended.
    bool begin(std::int64_t count, const std::function<void(std::int64_t)>& work);

    int threads_;
    std::unique_ptr<Shared> shared_;
};

}  // namespace segfold
