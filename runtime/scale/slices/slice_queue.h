#pragma once
// The queue from the thread that reads slices to the thread that takes their results.
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace segfold {

/// A queue of slices in `rooms` rooms. A slice occupies its room until free_room().
template <class Slice>
class SliceQueue {
public:
    /// Closes the queue at the end of a scope, so that the reading thread ends.
    struct Closing {
        SliceQueue& queue;
        ~Closing() { queue.close(); }
    };

    explicit SliceQueue(std::size_t rooms) : rooms_(rooms) {}

    [[nodiscard]] bool has_room()
    {
        const std::lock_guard lock(mutex_);
        return is_closed_ || used_ < rooms_;
    }
    /// Waits for a free room and takes it. Returns false if the queue is closed.
    bool wait_for_room()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_closed_ || used_ < rooms_; });
        if (is_closed_)
            return false;
        ++used_;
        return true;
    }
    void push(std::unique_ptr<Slice> slice)
    {
        const std::lock_guard lock(mutex_);
        slices_.push_back(std::move(slice));
        changed_.notify_all();
    }
    /// Ends the queue after the last slice; the reader calls it. `failure` is null if all slices were read.
    void end(std::exception_ptr failure)
    {
        const std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
        is_ended_ = true;
        changed_.notify_all();
    }
    /// Waits for the next slice. After the last slice, returns null or throws the reader's failure.
    std::unique_ptr<Slice> pop()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_ended_ || !slices_.empty(); });
        if (slices_.empty()) {
            if (failure_)
                std::rethrow_exception(failure_);
            return nullptr;
        }
        auto slice = std::move(slices_.front());
        slices_.pop_front();
        return slice;
    }
    void free_room()
    {
        const std::lock_guard lock(mutex_);
        --used_;
        changed_.notify_all();
    }
    void close()
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
    }

private:
    const std::size_t rooms_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Slice>> slices_;
    std::size_t used_ = 0;
    bool is_ended_ = false, is_closed_ = false;
    std::exception_ptr failure_;
};

}  // namespace segfold
