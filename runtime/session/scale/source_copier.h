#pragma once
// Parts of sources brought to a device: from where they lie, or through a few page-locked buffers.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/data/array_source.h"
#include "runtime/session/scale/slice_engine.h"

namespace segfold {

/// Reads sources and queues their copies to the device.
///
/// What lies in page-locked memory is copied from there. Everything else is read into a few buffers of some
/// MiB, in pieces, by as many threads as there are cores where the source allows it: one core copies from the
/// page cache at a fraction of the rate of a link. A buffer is copied once it is full, and read anew as soon
/// as the device has taken it.
class SourceCopier {
public:
    /// `memory_bytes` bound the buffers, which are taken by the first source that needs them.
    SourceCopier(SliceEngine& engine, std::int64_t memory_bytes);
    ~SourceCopier();
    SourceCopier(const SourceCopier&) = delete;
    SourceCopier& operator=(const SourceCopier&) = delete;

    /// Queues copies of `count` elements from `begin` on to `device`; gives how many there were. Throws what
    /// reading throws. One thread at a time.
    [[nodiscard]] std::int64_t copy(ArraySource& source, std::int64_t begin, std::int64_t count,
                                    std::byte* device);

private:
    static constexpr std::int64_t kBuffers = 4;

    struct Buffer {
        std::span<std::byte> bytes;
        std::unique_ptr<SliceEngine::Mark> taken;  ///< it may be filled again once this has come
        std::int64_t filled_with = -1;             ///< the part of the job for which it is open
        std::int64_t sent_with = -1;               ///< the part whose copy is queued
        std::int64_t pieces_left = 0;              ///< of the open part, that are not read yet
    };
    /// What the threads read: parts, each of which fills a buffer, of pieces.
    struct Job {
        ArraySource* source = nullptr;
        const std::byte* lent = nullptr;  ///< where the elements lie in pageable memory
        std::int64_t begin = 0, count = 0;
        std::int64_t piece = 0, part = 0;  ///< elements
        std::int64_t num_pieces = 0;
        std::byte* device = nullptr;
        std::atomic<std::int64_t> next = 0;
    };

    void take_buffers();
    void start_threads();
    void serve();
    void read_pieces();
    bool open(std::int64_t part, bool is_first);
    void read_piece(std::int64_t piece, std::span<std::byte> room);
    void close_piece(std::int64_t part);
    [[nodiscard]] Buffer& buffer_of(std::int64_t part)
    {
        return buffers_[static_cast<std::size_t>(part % kBuffers)];
    }
    std::int64_t read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                               std::byte* device);

    SliceEngine& engine_;
    std::size_t num_threads_, piece_bytes_, buffer_bytes_;
    std::unique_ptr<SliceEngine::Memory> memory_;
    std::int64_t next_buffer_ = 0;  ///< of reading in order

    std::mutex mutex_;  ///< of what follows
    std::condition_variable changed_;
    std::vector<Buffer> buffers_;
    std::uint64_t round_ = 0;  ///< a job is there when it grows
    std::size_t working_ = 0;
    bool is_ending_ = false;
    std::exception_ptr failure_;
    Job job_;
    std::vector<std::jthread> threads_;
};

}  // namespace segfold
