#pragma once
// Parts of sources brought to a device: from where they lie, or through page-locked buffers.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/data/array_source.h"
#include "runtime/session/scale/slice_engine.h"

namespace segfold {

/// Reads sources and queues their copies to the device.
///
/// What lies in page-locked memory is copied from there. Everything else is read in pieces by as many threads
/// as there are cores, where the source allows it: one core copies from the page cache at a fraction of the
/// rate of a link. Each thread has a few buffers of its own, so that it reads one while the device takes
/// another, and threads go on with the next part as soon as no piece of the last one is left.
class SourceCopier {
public:
    /// `memory_bytes` bound the buffers.
    SourceCopier(SliceEngine& engine, std::int64_t memory_bytes);
    ~SourceCopier();
    SourceCopier(const SourceCopier&) = delete;
    SourceCopier& operator=(const SourceCopier&) = delete;

    /// Takes the buffers and starts the threads that a source needs. start() does so too, where this was not
    /// called; page-locked memory takes its time.
    void ready_for(ArraySource& source);

    /// A copy that threads still read for.
    class UnderWay;
    struct Started {
        std::int64_t count = 0;               ///< elements that there are, of those asked for
        std::shared_ptr<UnderWay> rest = {};  ///< null where all copies are queued
    };
    /// Begins to queue copies of `count` elements from `begin` on to `device`. Throws what reading throws, as
    /// far as it is done here. One thread at a time.
    [[nodiscard]] Started start(ArraySource& source, std::int64_t begin, std::int64_t count,
                                std::byte* device);
    /// Waits until the copies are queued. Throws what reading throws.
    void finish(UnderWay& copy);
    /// Ends the threads, which leave what they have not begun. Nothing may be started behind it.
    void stop();

private:
    /// Buffers of one thread, filled in turn.
    class Ring;
    struct Piece {
        std::shared_ptr<UnderWay> of;
        std::int64_t first = 0, count = 0;
    };

    [[nodiscard]] bool is_page_locked(ArraySource& source, std::int64_t begin, std::int64_t count) const;
    void start_threads();
    void serve(Ring& ring);
    [[nodiscard]] std::optional<Piece> claim();
    void close(UnderWay& copy, std::exception_ptr failure);
    std::int64_t read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                               std::byte* device);

    SliceEngine& engine_;
    std::size_t num_threads_ = 1, buffer_bytes_ = 0, ordered_bytes_ = 0;
    std::vector<std::unique_ptr<Ring>> rings_;
    std::unique_ptr<Ring> ordered_;  ///< of sources that are read in order, on the caller's thread

    std::mutex mutex_;  ///< of what follows
    std::condition_variable startable_, finished_;
    std::deque<std::shared_ptr<UnderWay>> unread_;  ///< pieces of these are left to begin
    bool is_ending_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace segfold
