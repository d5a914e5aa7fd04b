#include "runtime/scale/ranks/thread_ranks.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "dsl/error.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {
namespace {

using Message = std::vector<std::byte>;

/// Data that the ranks' threads share: the bytes of a collective call, and messages not yet received.
class Meeting {
public:
    explicit Meeting(int size) : size_(size), given_(static_cast<std::size_t>(size)) {}

    [[nodiscard]] int size() const { return size_; }

    std::vector<Message> gather(int rank, std::span<const std::byte> mine)
    {
        std::unique_lock lock(mutex_);
        // A collective call begins only when all threads have taken the bytes of the previous call.
        change_.wait(lock, [&] { return !is_taking_ || has_left_; });
        require_all();
        given_[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
        if (++num_given_ == size_) {
            is_taking_ = true;
            change_.notify_all();
        }
        change_.wait(lock, [&] { return is_taking_ || has_left_; });
        if (!is_taking_)
            require_all();
        auto all = given_;
        if (--num_given_ == 0) {
            is_taking_ = false;
            change_.notify_all();
        }
        return all;
    }

    void send(int from, int to, std::span<const std::byte> bytes)
    {
        const std::lock_guard lock(mutex_);
        auto& queue = sent_[{from, to}];
        queue.insert(queue.end(), bytes.begin(), bytes.end());
        change_.notify_all();
    }

    void receive(int from, int to, std::span<std::byte> bytes)
    {
        std::unique_lock lock(mutex_);
        auto& queue = sent_[{from, to}];
        change_.wait(lock, [&] { return queue.size() >= bytes.size() || has_left_; });
        if (queue.size() < bytes.size())
            require_all();
        const auto end = queue.begin() + std::ssize(bytes);
        std::copy(queue.begin(), end, bytes.begin());
        queue.erase(queue.begin(), end);
    }

    void leave(std::exception_ptr failure)
    {
        const std::lock_guard lock(mutex_);
        if (!has_left_)
            failure_ = std::move(failure);
        has_left_ = true;
        change_.notify_all();
    }

    /// The exception of the first thread that has ended with an exception; null if there is none.
    [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

private:
    void require_all() const
    {
        if (has_left_)
            throw InternalError("a rank has left, and another one waits for it");
    }

    int size_;
    std::mutex mutex_;
    std::condition_variable change_;
    std::vector<Message> given_;
    int num_given_ = 0;
    bool is_taking_ = false, has_left_ = false;
    std::exception_ptr failure_;
    /// Messages not yet received, by sender and receiver.
    std::map<std::pair<int, int>, std::deque<std::byte>> sent_;
};

class ThreadRank : public Communicator {
public:
    ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return meeting_.size(); }
    [[nodiscard]] int local_rank() const override { return rank_; }
    [[nodiscard]] std::vector<Message> all_gather(std::span<const std::byte> mine) override
    {
        return meeting_.gather(rank_, mine);
    }
    void send(int to, std::span<const std::byte> bytes) override { meeting_.send(rank_, to, bytes); }
    void receive(int from, std::span<std::byte> bytes) override { meeting_.receive(from, rank_, bytes); }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

private:
    Meeting& meeting_;
    int rank_;
};

}  // namespace

void run_thread_ranks(int size, const std::function<void(Communicator& ranks)>& work)
{
    Meeting meeting(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank, stopper = WorkStopper::here()] {
            const WorkStopper::Here here(stopper);
            try {
                ThreadRank ranks(meeting, rank);
                work(ranks);
            } catch (...) {
                meeting.leave(std::current_exception());
            }
        });
    threads.clear();
    if (meeting.failure())
        std::rethrow_exception(meeting.failure());
}

}  // namespace segfold
