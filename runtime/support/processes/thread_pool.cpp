#include "runtime/support/processes/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "dsl/lasting.h"
#include "dsl/stopped.h"

namespace segfold {

int num_usable_cores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

namespace {

/// Moves a thread of a pool away from a given core.
class Avoidance {
public:
    Avoidance() : is_known_(sched_getaffinity(0, sizeof usable_, &usable_) == 0) {}

    /// Moves this thread off `core` if it runs there. A scheduler often wakes a thread on the core of its
    /// waker. It may leave both on this core for a whole fold while another core is idle.
    void leave(int core)
    {
        if (!is_known_ || core < 0 || core >= CPU_SETSIZE || sched_getcpu() != core ||
            !CPU_ISSET(core, &usable_) || CPU_COUNT(&usable_) < 2)
            return;
        cpu_set_t others = usable_;
        CPU_CLR(core, &others);
        (void)sched_setaffinity(0, sizeof others, &others);  // if this fails, the scheduler decides
    }

private:
    cpu_set_t usable_;
    bool is_known_;
};

}  // namespace

/// State shared by the threads. A loop is over when all parts are taken and no thread works on a part any
/// more.
struct ThreadPool::Shared {
    std::mutex turn;  ///< held by the caller whose loop runs
    std::mutex mutex;
    std::condition_variable begins, ends;
    std::uint64_t loop = 0;  ///< number of the present loop
    bool stops = false;
    int working = 0;  ///< threads of the pool that have not left the present loop
    int home = -1;    ///< the core on which the caller began the loop
    std::int64_t count = 0;
    const std::function<void(std::int64_t)>* work = nullptr;
    const std::atomic<bool>* stop = nullptr;  ///< the caller's stop_flag()
    std::atomic<std::int64_t> next = 0;
    std::vector<std::jthread> threads;

    void take_parts()
    {
        for (std::int64_t part = next.fetch_add(1); part < count; part = next.fetch_add(1)) {
            if (stop != nullptr && stop->load(std::memory_order_relaxed))
                return;
            (*work)(part);
        }
    }

    void wait_for_loops()
    {
        std::uint64_t seen = 0;
        Avoidance avoidance;
        std::unique_lock lock(mutex);
        for (;;) {
            begins.wait(lock, [&] { return stops || loop != seen; });
            if (loop == seen)
                return;
            seen = loop;
            const int core = home;
            lock.unlock();
            avoidance.leave(core);
            take_parts();
            lock.lock();
            if (--working == 0)
                ends.notify_one();
        }
    }
};

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)), shared_(std::make_unique<Shared>()) {}

ThreadPool::~ThreadPool() { end(); }

void ThreadPool::end()
{
    std::vector<std::jthread> leaving;
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->stops = true;
        leaving.swap(shared_->threads);
    }
    shared_->begins.notify_all();
}

ThreadPool& ThreadPool::shared()
{
    static auto& pool = lasting([] { return ThreadPool(num_usable_cores()); });
    // Threads must not outlive their code, which disappears when a library is unloaded. The pool itself
    // remains for later folds, for example in destructors of static objects.
    struct AtEnd {
        ~AtEnd() { pool.end(); }
    };
    static const AtEnd at_end;
    // After fork(), the child process has the pool without its threads, and must start new threads.
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
        (void)pool.shared_.release();  // NOLINT(bugprone-unused-return-value): its threads cannot be joined
        pool.shared_ = std::make_unique<Shared>();
    });
    (void)registered;
    return pool;
}

bool ThreadPool::begin(std::int64_t count, const std::function<void(std::int64_t)>& work)
{
    auto& shared = *shared_;
    const std::lock_guard lock(shared.mutex);
    if (shared.stops)
        return false;
    while (static_cast<int>(shared.threads.size()) + 1 < threads_)
        shared.threads.emplace_back([&shared] { shared.wait_for_loops(); });
    shared.home = sched_getcpu();
    shared.count = count;
    shared.work = &work;
    shared.stop = stop_flag();
    shared.next = 0;
    shared.working = threads_ - 1;
    ++shared.loop;
    return true;
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t)>& work)
{
    auto& shared = *shared_;
    const std::lock_guard turn(shared.turn);
    if (count <= 1 || threads_ == 1 || !begin(count, work)) {
        for (std::int64_t part = 0; part < count; ++part) {
            throw_if_stopped();
            work(part);
        }
        return;
    }
    shared.begins.notify_all();
    shared.take_parts();
    std::unique_lock lock(shared.mutex);
    shared.ends.wait(lock, [&] { return shared.working == 0; });
    throw_if_stopped();
}

}  // namespace segfold
