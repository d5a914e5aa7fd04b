#include "runtime/session/scale/source_copier.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace segfold {
namespace {

using Lane = SliceEngine::Lane;

constexpr std::size_t kMostThreads = 16;
constexpr std::size_t kBuffersEach = 2;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kSmallestBuffer = 4096;
constexpr std::size_t kOrderedBuffers = 4;
constexpr std::size_t kOrderedBytes = std::size_t{16} << 20;  // a generator fills a buffer by many threads
/// Of what lies in page-locked memory: copies of other lanes come between two of them.
constexpr std::size_t kBytesAtOnce = std::size_t{32} << 20;

std::size_t buffer_within(std::size_t bytes, std::size_t buffers, std::size_t most)
{
    return std::clamp(bytes / buffers, kSmallestBuffer, most) / kSmallestBuffer * kSmallestBuffer;
}

}  // namespace

class SourceCopier::Ring {
public:
    struct Buffer {
        std::span<std::byte> bytes;
        std::unique_ptr<SliceEngine::Mark> taken;  ///< it may be filled again once this has come
    };

    Ring(SliceEngine& engine, std::size_t buffers, std::size_t bytes)
        : engine_(engine), memory_(engine.host_memory(buffers * bytes))
    {
        const std::span all(memory_->address(), memory_->bytes());
        for (std::size_t i = 0; i < buffers; ++i)
            buffers_.push_back({all.subspan(i * bytes, bytes), engine.new_mark()});
    }

    /// The next buffer, once the device has taken what was in it.
    Buffer& next()
    {
        auto& buffer = buffers_[next_++ % buffers_.size()];
        engine_.wait(*buffer.taken);
        return buffer;
    }
    void send(Buffer& buffer, std::size_t bytes, std::byte* device)
    {
        if (bytes != 0)
            engine_.copy_in(device, buffer.bytes.first(bytes), Lane::copies);
        engine_.record(*buffer.taken, Lane::copies);
    }

private:
    SliceEngine& engine_;
    std::unique_ptr<SliceEngine::Memory> memory_;
    std::vector<Buffer> buffers_;
    std::size_t next_ = 0;
};

class SourceCopier::UnderWay {
public:
    ArraySource* source = nullptr;
    const std::byte* lent = nullptr;  ///< where the elements lie in pageable memory
    std::int64_t begin = 0, count = 0;
    std::byte* device = nullptr;

    // By the copier's mutex:
    std::int64_t next = 0;     ///< the first element of which no piece was begun
    std::int64_t reading = 0;  ///< pieces
    std::exception_ptr failure;

    [[nodiscard]] bool is_done() const { return next == count && reading == 0; }

    /// Reads elements from `first` on, counted from `begin`.
    void read(std::int64_t first, std::span<std::byte> into) const
    {
        const auto width = size_bytes(source->type());
        if (lent != nullptr) {
            std::memcpy(into.data(), lent + static_cast<std::size_t>(first) * width, into.size());
            return;
        }
        auto array = Array::borrow(source->type(), into.data(), into.size() / width);
        source->read(begin + first, array);
        if (array.data() != into.data())  // a source may give memory of its own
            std::memcpy(into.data(), array.data(), into.size());
    }
};

SourceCopier::SourceCopier(SliceEngine& engine, std::int64_t memory_bytes) : engine_(engine)
{
    // Half of the memory is for sources that are read in order.
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(memory_bytes, 0)) / 2;
    const auto cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
    num_threads_ = std::clamp<std::size_t>(bytes / (kBuffersEach * kSmallestBuffer), 1, cores);
    buffer_bytes_ = buffer_within(bytes, num_threads_ * kBuffersEach, kBufferBytes);
    ordered_bytes_ = buffer_within(bytes, kOrderedBuffers, kOrderedBytes);
}

SourceCopier::~SourceCopier() { stop(); }

void SourceCopier::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    startable_.notify_all();
    threads_.clear();
}

bool SourceCopier::is_page_locked(ArraySource& source, std::int64_t begin, std::int64_t count) const
{
    const auto* const lent = source.lent(begin);
    return lent != nullptr &&
           engine_.is_page_locked({lent, static_cast<std::size_t>(count) * size_bytes(source.type())});
}

void SourceCopier::ready_for(ArraySource& source)
{
    const auto length = source.length();
    if (length && is_page_locked(source, 0, *length))
        return;
    if (source.lent(0) != nullptr || source.reads_in_parallel())
        start_threads();
    else if (!ordered_)
        ordered_ = std::make_unique<Ring>(engine_, kOrderedBuffers, ordered_bytes_);
}

void SourceCopier::start_threads()
{
    while (threads_.size() < num_threads_) {
        rings_.push_back(std::make_unique<Ring>(engine_, kBuffersEach, buffer_bytes_));
        threads_.emplace_back([this, &ring = *rings_.back()] { serve(ring); });
    }
}

void SourceCopier::serve(Ring& ring)
{
    while (const auto piece = claim()) {
        auto& copy = *piece->of;
        std::exception_ptr failure;
        try {
            const auto width = size_bytes(copy.source->type());
            const auto bytes = static_cast<std::size_t>(piece->count) * width;
            auto& buffer = ring.next();
            copy.read(piece->first, buffer.bytes.first(bytes));
            ring.send(buffer, bytes, copy.device + static_cast<std::size_t>(piece->first) * width);
        } catch (...) {
            failure = std::current_exception();
        }
        close(copy, failure);
    }
}

/// The next piece to read; nothing once the threads are to end.
std::optional<SourceCopier::Piece> SourceCopier::claim()
{
    std::unique_lock lock(mutex_);
    startable_.wait(lock, [&] { return is_ending_ || !unread_.empty(); });
    if (is_ending_)
        return std::nullopt;
    const auto copy = unread_.front();
    const auto most = static_cast<std::int64_t>(buffer_bytes_ / size_bytes(copy->source->type()));
    const Piece piece{copy, copy->next, std::min(most, copy->count - copy->next)};
    copy->next += piece.count;
    ++copy->reading;
    if (copy->next == copy->count)
        unread_.pop_front();
    return piece;
}

/// Notes that a piece is read, or why it could not be; then no other piece is begun.
void SourceCopier::close(UnderWay& copy, std::exception_ptr failure)
{
    const std::lock_guard lock(mutex_);
    --copy.reading;
    if (failure && !copy.failure) {
        copy.failure = std::move(failure);
        std::erase_if(unread_, [&](const auto& other) { return other.get() == &copy; });
        copy.next = copy.count;
    }
    if (copy.is_done())
        finished_.notify_all();
}

std::int64_t SourceCopier::read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                                         std::byte* device)
{
    const auto width = size_bytes(source.type());
    const auto most = static_cast<std::int64_t>(ordered_bytes_ / width);
    for (std::int64_t done = 0; done < count;) {
        auto& buffer = ordered_->next();
        const auto wanted = std::min(most, count - done);
        auto array = Array::borrow(source.type(), buffer.bytes.data(), static_cast<std::size_t>(wanted));
        const auto found = source.read(begin + done, array);
        const auto bytes = static_cast<std::size_t>(found) * width;
        if (array.data() != buffer.bytes.data() && bytes != 0)
            std::memcpy(buffer.bytes.data(), array.data(), bytes);
        ordered_->send(buffer, bytes, device + static_cast<std::size_t>(done) * width);
        done += found;
        if (found < wanted)
            return done;
    }
    return count;
}

SourceCopier::Started SourceCopier::start(ArraySource& source, std::int64_t begin, std::int64_t count,
                                          std::byte* device)
{
    if (count == 0)
        return {};
    const auto* const lent = source.lent(begin);
    if (is_page_locked(source, begin, count)) {
        for (auto left = std::span(lent, static_cast<std::size_t>(count) * size_bytes(source.type()));
             !left.empty();) {
            const auto part = left.first(std::min(left.size(), kBytesAtOnce));
            engine_.copy_in(device, part, Lane::copies);
            device += part.size();
            left = left.subspan(part.size());
        }
        return {count};
    }
    ready_for(source);
    if (lent == nullptr && !source.reads_in_parallel())
        return {read_in_order(source, begin, count, device)};
    auto copy = std::make_shared<UnderWay>();
    copy->source = &source;
    copy->lent = lent;
    copy->begin = begin;
    copy->count = count;
    copy->device = device;
    {
        const std::lock_guard lock(mutex_);
        unread_.push_back(copy);
    }
    startable_.notify_all();
    return {count, std::move(copy)};
}

void SourceCopier::finish(UnderWay& copy)
{
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return copy.is_done(); });
    if (copy.failure)
        std::rethrow_exception(copy.failure);
}

}  // namespace segfold
