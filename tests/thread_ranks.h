#pragma once
// Ranks that are threads of one process.
#include <barrier>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/session/scale/communicator.h"

namespace segfold::test {

/// What threads that stand for ranks share.
struct Meeting {
    explicit Meeting(int size)
        : barrier(size), given(static_cast<std::size_t>(size)), sent(static_cast<std::size_t>(size))
    {}

    std::barrier<> barrier;
    std::vector<std::vector<std::byte>> given;
    std::mutex mutex;
    std::condition_variable arrival;
    std::vector<std::deque<std::byte>> sent;  ///< to rank 0
};

/// Ranks as threads.
class ThreadRank : public Communicator {
public:
    ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(meeting_.given.size()); }
    [[nodiscard]] int local_rank() const override { return rank_; }
    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override
    {
        meeting_.given[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
        meeting_.barrier.arrive_and_wait();
        auto all = meeting_.given;
        meeting_.barrier.arrive_and_wait();
        return all;
    }
    void send(int, std::span<const std::byte> bytes) override
    {
        const std::lock_guard lock(meeting_.mutex);
        auto& queue = meeting_.sent[static_cast<std::size_t>(rank_)];
        queue.insert(queue.end(), bytes.begin(), bytes.end());
        meeting_.arrival.notify_all();
    }
    void receive(int from, std::span<std::byte> bytes) override
    {
        std::unique_lock lock(meeting_.mutex);
        auto& queue = meeting_.sent[static_cast<std::size_t>(from)];
        meeting_.arrival.wait(lock, [&] { return queue.size() >= bytes.size(); });
        const auto end = queue.begin() + std::ssize(bytes);
        std::copy(queue.begin(), end, bytes.begin());
        queue.erase(queue.begin(), end);
    }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

private:
    Meeting& meeting_;
    int rank_;
};

/// Calls `work` as each of `size` ranks, and waits for all.
inline void run_thread_ranks(int size, const std::function<void(Communicator& ranks)>& work)
{
    Meeting meeting(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            ThreadRank ranks(meeting, rank);
            work(ranks);
        });
}

}  // namespace segfold::test
