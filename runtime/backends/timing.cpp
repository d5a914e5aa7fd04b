#include "runtime/backends/timing.h"

#include <chrono>

#include "dsl/stopped.h"
#include "runtime/support/statistics.h"

namespace segfold {
namespace {

constexpr int kHostRounds = 5;

}  // namespace

std::vector<Array> borrowed(std::span<const Array> arrays)
{
    std::vector<Array> all;
    for (const auto& array : arrays)
        all.push_back(array.lend());
    return all;
}

std::vector<double> Timing::wall_milliseconds(const TimedLaunch& launch, int warmups, int repeats, bool flush)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> milliseconds;
    for (int run = -warmups; run < repeats; ++run) {
        throw_if_stopped();
        if (flush)
            fill_cache();
        wait();
        const auto start = Clock::now();
        launch();
        wait();
        const std::chrono::duration<double, std::milli> spent = Clock::now() - start;
        if (run >= 0)
            milliseconds.push_back(spent.count());
    }
    return milliseconds;
}

double Timing::host_microseconds(const TimedLaunch& launch, int launches)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> rounds;
    for (int round = 0; round < kHostRounds; ++round) {
        throw_if_stopped();
        wait();
        const auto start = Clock::now();
        for (int i = 0; i < launches; ++i)
            launch();
        const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
        rounds.push_back(spent.count() / launches);
    }
    wait();
    return quartiles(rounds).median;
}

}  // namespace segfold
