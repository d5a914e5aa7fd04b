#pragma once
// Copies sources to a device, directly or through page-locked buffers.
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
/// The device copies page-locked memory by itself. Other memory and files are read in pieces into a ring of
/// page-locked buffers. Threads on most of the cores read, because one core reads the page cache at a
/// fraction of a link's rate. When all pieces of a buffer are read, the buffer is copied in one call, because
/// the driver serves one thread at a time. When the device has copied the buffer, threads fill it again. When
/// no piece of a copy is left, threads continue with the next copy. A generator is read in order, on the
/// caller's thread.
class SourceCopier {
public:
    /// Makes a copier whose buffers together have at most `memory_bytes` bytes.
    SourceCopier(SliceEngine& engine, std::int64_t memory_bytes);
    ~SourceCopier();
    SourceCopier(const SourceCopier&) = delete;
    SourceCopier& operator=(const SourceCopier&) = delete;

    /// Allocates page-locked buffers and starts threads for these sources. Without this call, the first copy
    /// does this and takes longer.
    void ready_for(const std::vector<ArraySource*>& sources);

    /// A copy to the device whose source is still being read.
    class UnderWay;
    struct Started {
        std::int64_t count = 0;  ///< number of elements that the source had
        /// The part of the copy that is not queued yet; null if all is queued.
        std::shared_ptr<UnderWay> rest = {};
    };
    /// Begins to copy `count` elements from `begin` on to `device`. Rethrows errors of the source that occur
    /// on this thread. Only one thread at a time may call this.
    [[nodiscard]] Started start(ArraySource& source, std::int64_t begin, std::int64_t count,
                                std::byte* device);
    /// Waits until all parts of the copy are queued. Rethrows errors of the source.
    void finish(UnderWay& copy);
    /// Ends the threads and drops pieces that no thread has begun. Afterwards no copy may be started.
    void stop();

private:
    struct Buffer {
        std::span<std::byte> bytes;
        /// Reached when the device has copied the buffer, which may then be filled again.
        std::unique_ptr<SliceEngine::Mark> taken;
        bool is_filling = false;
    };
    /// Page-locked buffers that are filled in turn.
    struct Ring {
        std::unique_ptr<SliceEngine::Memory> memory;
        std::vector<Buffer> buffers;
        std::size_t next = 0;

        [[nodiscard]] Buffer& front() { return buffers[next % buffers.size()]; }
    };
    /// The part of a copy that fills a buffer.
    struct Part;
    struct Piece {
        std::shared_ptr<Part> part;
        std::int64_t first = 0, count = 0;  ///< elements, counted from the part's first element
    };

    void take_ordered(std::size_t memory_bytes);
    void take_shared(std::size_t memory_bytes);
    [[nodiscard]] Ring ring(std::size_t buffers, std::size_t most_bytes, std::size_t memory_bytes);
    [[nodiscard]] bool is_page_locked(ArraySource& source, std::int64_t begin, std::int64_t count) const;
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
    Ring ordered_;  ///< buffers for sources that are read in order, on the caller's thread

    std::mutex mutex_;  ///< guards the members below
    std::condition_variable changed_, finished_;
    Ring shared_;                                   ///< buffers that the threads fill
    std::deque<std::shared_ptr<UnderWay>> unread_;  ///< copies with parts that are not yet open
    std::shared_ptr<Part> open_;                    ///< the part whose pieces are being taken; null if none
    bool is_opening_ = false, is_ending_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace segfold
