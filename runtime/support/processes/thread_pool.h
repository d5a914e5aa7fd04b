#pragma once
// Keeps threads for parallel loops. Starting threads for each loop would take longer.
#include <cstdint>
#include <functional>
#include <memory>

namespace segfold {

/// Returns the number of cores in this process's affinity mask.
[[nodiscard]] int num_usable_cores();

/// A pool of threads that run the parts of a loop together with the caller's thread.
class ThreadPool {
public:
    /// Uses `threads` threads in all, including the caller's. The first loop starts them.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Returns the pool that the whole process shares, on all usable cores.
    static ThreadPool& shared();

    /// Ends the pool's threads after the present loop.
    void end();

    [[nodiscard]] int threads() const { return threads_; }

    /// Calls `work(i)` for 0 to count - 1, each once and in any order, and waits. `work` must not throw or
    /// run a loop itself. Loops of several callers run one after the other. If the WorkStopper of this thread
    /// is stopped, starts no further part and throws Stopped. After end(), the caller's thread runs all
    /// parts.
    void run(std::int64_t count, const std::function<void(std::int64_t)>& work);

private:
    struct Shared;
    /// Announces a loop to the threads. Returns false after end().
    bool begin(std::int64_t count, const std::function<void(std::int64_t)>& work);

    int threads_;
    std::unique_ptr<Shared> shared_;
};

}  // namespace segfold
