#pragma once
// The schedules under which planted bugs run, and a limit on their time.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "dsl/stopped.h"
#include "runtime/simt/program.h"

namespace segfold::test {

constexpr std::uint64_t kSeedsOnAllCores = 3;
constexpr std::uint64_t kSeeds = 9;
constexpr std::uint64_t kManySeeds = 24;

/// Returns the schedule of a seed. After the first seeds, all work runs on one OS thread, so that equal seeds
/// give equal interleavings. Even seeds run as many blocks as possible between two changes of a flag; odd
/// seeds switch at random.
inline simt::Options schedule_of_seed(std::uint64_t seed)
{
    auto options = simt::options_from_seed(seed);
    if (seed > kSeedsOnAllCores) {
        options.schedule = seed % 2 == 0 ? simt::Schedule::overtaking : simt::Schedule::sticky_warp;
        options.os_threads = 1;
        options.block_order = simt::BlockOrder::ascending;
    }
    return options;
}

/// Ends work on this thread with Stopped after `limit`. A bug may make a warp loop forever and change memory
/// each time, which the executor takes for progress.
class TimeLimit {
public:
    explicit TimeLimit(std::chrono::seconds limit)
        : timer_([this, limit](const std::stop_token& is_done) {
              std::unique_lock lock(mutex_);
              is_over_ = !changed_.wait_for(lock, is_done, limit, [&] { return is_done.stop_requested(); });
          }),
          outer_(exchange_stop_flag(&is_over_))
    {}
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;
    ~TimeLimit() { exchange_stop_flag(outer_); }

private:
    std::atomic<bool> is_over_ = false;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::jthread timer_;
    const std::atomic<bool>* outer_;
};

}  // namespace segfold::test
