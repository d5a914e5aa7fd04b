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
/// What lies in page-locked memory is copied from there. Everything else is read into buffers of some MiB, by
/// as many threads as there are cores where the source allows it: one core copies from the page cache at a
/// fraction of the rate of a link. A buffer is read anew as soon as the device has taken what was in it.
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
    /// A page-locked buffer; it may be filled again once the mark has come.
    struct Buffer {
        std::span<std::byte> bytes;
        std::unique_ptr<SliceEngine::Mark> taken;
    };
    /// What the threads work on.
    struct Job {
        ArraySource* source = nullptr;
        const std::byte* lent = nullptr;  ///< where the elements lie in pageable memory
        std::int64_t begin = 0, count = 0, each = 0;
        std::byte* device = nullptr;
        std::atomic<std::int64_t> next = 0;
    };

    void take_buffers();
    void start_threads();
    void read_share(std::size_t thread);
    void read_all_by(std::size_t thread);
    std::int64_t read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                               std::byte* device);

    SliceEngine& engine_;
    std::size_t num_threads_, buffer_bytes_;
    std::unique_ptr<SliceEngine::Memory> memory_;
    std::vector<Buffer> buffers_;  ///< two of each thread
    std::size_t next_group_ = 0;   ///< of reading in order

    std::mutex mutex_;  ///< of what follows
    std::condition_variable changed_;
    std::uint64_t round_ = 0;  ///< a job is there when it grows
    std::size_t working_ = 0;
    bool is_ending_ = false;
    std::exception_ptr failure_;
    Job job_;
    std::vector<std::jthread> threads_;
};

}  // namespace segfold
