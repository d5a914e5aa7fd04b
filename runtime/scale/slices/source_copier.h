#pragma once
// Parts of sources brought to a device: from where they lie, or through page-locked buffers.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "runtime/data/array_source.h"
#include "runtime/scale/slices/slice_engine.h"

namespace segfold {

/// Reads sources and queues their copies to the device.
///
/// What lies in page-locked memory is copied from there. Everything else is read into a ring of buffers, in
/// pieces, by threads on most of the cores where the source allows it: one core copies from the page
/// cache at a fraction of the rate of a link. A buffer is copied once all its pieces are read, and filled
/// anew as soon as the device has taken it: few calls of the driver, which serves one thread at a time.
/// Threads go on with the next copy as soon as no piece of the last one is left.
class SourceCopier {
public:
    /// `memory_bytes` bound the buffers.
    SourceCopier(SliceEngine& engine, std::int64_t memory_bytes);
    ~SourceCopier();
    SourceCopier(const SourceCopier&) = delete;
    SourceCopier& operator=(const SourceCopier&) = delete;

    /// Takes the buffers and starts the threads that these sources need, where it is not left to the first
    /// copy: page-locked memory takes its time.
    void ready_for(const std::vector<ArraySource*>& sources);

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
    struct Buffer {
        std::span<std::byte> bytes;
        std::unique_ptr<SliceEngine::Mark> taken;  ///< it may be filled again once this has come
        bool is_filling = false;
    };
    /// Page-locked memory as buffers that are filled in turn.
    struct Ring {
        std::unique_ptr<SliceEngine::Memory> memory;
        std::vector<Buffer> buffers;
        std::size_t next = 0;

        [[nodiscard]] Buffer& front() { return buffers[next % buffers.size()]; }
    };
    /// What fills a buffer.
    struct Part;
    struct Piece {
        std::shared_ptr<Part> part;
        std::int64_t first = 0, count = 0;  ///< elements, counted from the part's first one
    };

    void take_ordered(std::size_t memory_bytes);
    void take_shared(std::size_t memory_bytes);
    [[nodiscard]] Ring ring(std::size_t buffers, std::size_t most_bytes, std::size_t memory_bytes);
    [[nodiscard]] bool is_page_locked(ArraySource& source, std::int64_t begin, std::int64_t count) const;
    [[nodiscard]] static bool is_read_in_order(const ArraySource& source);
    void serve();
    [[nodiscard]] std::optional<Piece> claim();
    void open_part(std::unique_lock<std::mutex>& lock);
    void close(Part& part, const std::exception_ptr& failure);
    [[nodiscard]] std::exception_ptr send(Part& part);
    void drop(UnderWay& copy, const std::exception_ptr& failure);
    std::int64_t read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                               std::byte* device);

    SliceEngine& engine_;
    std::size_t memory_bytes_;
    std::size_t piece_bytes_ = 0;
    Ring ordered_;  ///< of sources that are read in order, on the caller's thread

    std::mutex mutex_;  ///< of what follows
    std::condition_variable changed_, finished_;
    Ring shared_;                                   ///< of the threads
    std::deque<std::shared_ptr<UnderWay>> unread_;  ///< parts of these are left to open
    std::shared_ptr<Part> open_;                    ///< pieces of it are left to read
    bool is_opening_ = false, is_ending_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace segfold
