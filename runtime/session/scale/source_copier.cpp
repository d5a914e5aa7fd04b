#include "runtime/session/scale/source_copier.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace segfold {
namespace {

using Lane = SliceEngine::Lane;

constexpr std::size_t kMostThreads = 16;
constexpr std::size_t kBufferBytes = std::size_t{2} << 20;
constexpr std::size_t kSmallestBuffer = 4096;
constexpr std::size_t kBuffersEach = 2;
constexpr std::size_t kPartsEach = 8;
constexpr std::size_t kSmallestPart = std::size_t{256} << 10;
constexpr std::size_t kGroups = 4;  // of buffers, for a source that one thread reads
/// Of what lies in page-locked memory: copies of other lanes come between two of them.
constexpr std::int64_t kBytesAtOnce = std::int64_t{32} << 20;

}  // namespace

SourceCopier::SourceCopier(SliceEngine& engine, std::int64_t memory_bytes)
    : engine_(engine),
      num_threads_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads)),
      buffer_bytes_(kBufferBytes)
{
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(memory_bytes, 0)) / kBuffersEach;
    if (num_threads_ * buffer_bytes_ <= most)
        return;
    num_threads_ = std::clamp<std::size_t>(most / kSmallestBuffer, 1, num_threads_);
    buffer_bytes_ =
        std::clamp(most / num_threads_ / kSmallestBuffer * kSmallestBuffer, kSmallestBuffer, kBufferBytes);
}

SourceCopier::~SourceCopier()
{
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
}

void SourceCopier::take_buffers()
{
    if (memory_)
        return;
    const auto count = num_threads_ * kBuffersEach;
    memory_ = engine_.host_memory(count * buffer_bytes_);
    const std::span bytes(memory_->address(), memory_->bytes());
    for (std::size_t i = 0; i < count; ++i)
        buffers_.push_back({bytes.subspan(i * buffer_bytes_, buffer_bytes_), engine_.new_mark()});
}

void SourceCopier::start_threads()
{
    while (threads_.size() + 1 < num_threads_)
        threads_.emplace_back([this, thread = threads_.size() + 1] { read_share(thread); });
}

/// Reads parts of the job until there are none left.
void SourceCopier::read_all_by(std::size_t thread)
{
    const auto type = job_.source->type();
    const auto width = size_bytes(type);
    try {
        std::size_t turn = 0;
        for (auto part = job_.next++; part * job_.each < job_.count; part = job_.next++) {
            const auto first = part * job_.each;
            const auto count = static_cast<std::size_t>(std::min(job_.each, job_.count - first));
            auto& buffer = buffers_[thread * kBuffersEach + turn++ % kBuffersEach];
            engine_.wait(*buffer.taken);
            const auto filled = buffer.bytes.first(count * width);
            if (job_.lent != nullptr) {
                std::memcpy(filled.data(), job_.lent + static_cast<std::size_t>(first) * width,
                            filled.size());
            } else {
                auto array = Array::borrow(type, filled.data(), count);
                job_.source->read(job_.begin + first, array);
                if (array.data() != filled.data())  // a source may give memory of its own
                    std::memcpy(filled.data(), array.data(), filled.size());
            }
            engine_.copy_in(job_.device + static_cast<std::size_t>(first) * width, filled, Lane::copies);
            engine_.record(*buffer.taken, Lane::copies);
        }
    } catch (...) {
        job_.next = job_.count;
        const std::lock_guard lock(mutex_);
        if (!failure_)
            failure_ = std::current_exception();
    }
}

void SourceCopier::read_share(std::size_t thread)
{
    for (std::uint64_t seen = 0;;) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return is_ending_ || round_ != seen; });
            if (is_ending_)
                return;
            seen = round_;
        }
        read_all_by(thread);
        const std::lock_guard lock(mutex_);
        if (--working_ == 0)
            changed_.notify_all();
    }
}

std::int64_t SourceCopier::read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                                         std::byte* device)
{
    const auto width = size_bytes(source.type());
    // Neighbouring buffers together are one.
    const auto each = std::max<std::size_t>(1, buffers_.size() / kGroups), groups = buffers_.size() / each;
    const auto most = static_cast<std::int64_t>(each * buffer_bytes_ / width);
    for (std::int64_t done = 0; done < count;) {
        const auto group = std::span(buffers_).subspan(next_group_++ % groups * each, each);
        for (const auto& buffer : group)
            engine_.wait(*buffer.taken);
        const auto wanted = std::min(most, count - done);
        auto* const room = group.front().bytes.data();
        auto array = Array::borrow(source.type(), room, static_cast<std::size_t>(wanted));
        const auto found = source.read(begin + done, array);
        const std::span filled(room, static_cast<std::size_t>(found) * width);
        if (array.data() != room && !filled.empty())
            std::memcpy(room, array.data(), filled.size());
        if (!filled.empty())
            engine_.copy_in(device + static_cast<std::size_t>(done) * width, filled, Lane::copies);
        for (const auto& buffer : group)
            engine_.record(*buffer.taken, Lane::copies);
        done += found;
        if (found < wanted)
            return done;
    }
    return count;
}

std::int64_t SourceCopier::copy(ArraySource& source, std::int64_t begin, std::int64_t count,
                                std::byte* device)
{
    if (count == 0)
        return 0;
    const auto width = size_bytes(source.type());
    const auto* const lent = source.lent(begin);
    if (lent != nullptr && engine_.is_page_locked({lent, static_cast<std::size_t>(count) * width})) {
        for (auto left = std::span(lent, static_cast<std::size_t>(count) * width); !left.empty();) {
            const auto part = left.first(std::min(left.size(), static_cast<std::size_t>(kBytesAtOnce)));
            engine_.copy_in(device, part, Lane::copies);
            device += part.size();
            left = left.subspan(part.size());
        }
        return count;
    }
    take_buffers();
    if (lent == nullptr && !source.reads_in_parallel())
        return read_in_order(source, begin, count, device);
    job_.source = &source;
    job_.lent = lent;
    job_.begin = begin;
    job_.count = count;
    // Small parts at the end leave no thread without work for long.
    const auto share = static_cast<std::size_t>(count) * width / (num_threads_ * kPartsEach);
    job_.each = static_cast<std::int64_t>(std::min(buffer_bytes_, std::max(share, kSmallestPart)) / width);
    job_.device = device;
    job_.next = 0;
    start_threads();
    {
        const std::lock_guard lock(mutex_);
        ++round_;
        working_ = threads_.size();
    }
    changed_.notify_all();
    read_all_by(0);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return working_ == 0; });
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
    return count;
}

}  // namespace segfold
