#include "runtime/scale/slices/source_copier.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dsl/stopped.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {
namespace {

using Lane = SliceEngine::Lane;

constexpr std::size_t kMostThreads = 12;
constexpr std::size_t kBuffers = 6;
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr std::size_t kPieceBytes = std::size_t{512} << 10;
constexpr std::size_t kSmallestPiece = 4096;
constexpr std::size_t kOrderedBuffers = 4;
/// Size of a buffer for a generator. Buffers are large, because a generator may fill a buffer with many
/// threads.
constexpr std::size_t kOrderedBytes = std::size_t{16} << 20;
/// Largest number of bytes in one copy from page-locked memory. Longer copies are divided, so that other
/// copies can run in between.
constexpr std::size_t kBytesAtOnce = std::size_t{32} << 20;

std::size_t pages(std::size_t bytes, std::size_t most)
{
    return std::clamp(bytes, kSmallestPiece, most) / kSmallestPiece * kSmallestPiece;
}

}  // namespace

/// A copy to the device, while threads read its source. The copier's mutex guards the fields that change.
class SourceCopier::UnderWay {
public:
    ArraySource* source = nullptr;
    const std::byte* lent = nullptr;  ///< the elements, if they are in pageable memory; else null
    std::int64_t begin = 0, count = 0;
    std::byte* device = nullptr;
    /// The stopper of the thread that requested the copy.
    std::shared_ptr<WorkStopper> stopper = WorkStopper::here();

    std::int64_t next = 0;     ///< the first element that no part contains yet
    std::int64_t reading = 0;  ///< number of parts that are not completely read
    std::exception_ptr failure;

    [[nodiscard]] bool is_done() const { return next == count && reading == 0; }
    [[nodiscard]] std::size_t width() const { return size_bytes(source->type()); }

    /// Reads elements from `first` on, counted from `begin`, to `into`.
    void read(std::int64_t first, std::span<std::byte> into) const
    {
        if (lent != nullptr) {
            std::memcpy(into.data(), lent + static_cast<std::size_t>(first) * width(), into.size());
            return;
        }
        auto array = Array::borrow(source->type(), into.data(), into.size() / width());
        source->read(begin + first, array);
        if (array.data() != into.data())  // read() may replace the array by memory of the source
            std::memcpy(into.data(), array.data(), into.size());
    }
};

struct SourceCopier::Part {
    std::shared_ptr<UnderWay> of;
    Buffer& buffer;
    std::int64_t first = 0, count = 0;  ///< range of elements, counted from the copy's first element
    std::int64_t next = 0;              ///< the first element that no piece contains yet
    std::int64_t reading = 0;           ///< number of pieces that are not completely read
};

SourceCopier::SourceCopier(SliceEngine& engine, std::int64_t memory_bytes)
    : engine_(engine), memory_bytes_(static_cast<std::size_t>(std::max<std::int64_t>(memory_bytes, 0)))
{}

SourceCopier::~SourceCopier() { stop(); }

void SourceCopier::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    threads_.clear();
}

bool SourceCopier::is_page_locked(ArraySource& source, std::int64_t begin, std::int64_t count) const
{
    const auto* const lent = source.lent(begin);
    return lent != nullptr &&
           engine_.is_page_locked({lent, static_cast<std::size_t>(count) * size_bytes(source.type())});
}

SourceCopier::Ring SourceCopier::ring(std::size_t buffers, std::size_t most_bytes, std::size_t memory_bytes)
{
    const auto bytes = pages(memory_bytes / buffers, most_bytes);
    Ring made{engine_.host_memory(buffers * bytes), {}, 0};
    const std::span all(made.memory->address(), made.memory->bytes());
    for (std::size_t i = 0; i < buffers; ++i)
        made.buffers.push_back({all.subspan(i * bytes, bytes), engine_.new_mark()});
    return made;
}

void SourceCopier::ready_for(const std::vector<ArraySource*>& sources)
{
    bool any_ordered = false, any_shared = false;
    for (auto* source : sources) {
        const auto length = source->length();
        if (length && is_page_locked(*source, 0, *length))
            continue;
        (source->is_read_in_order() ? any_ordered : any_shared) = true;
    }
    const auto memory = any_ordered && any_shared ? memory_bytes_ / 2 : memory_bytes_;
    if (any_ordered)
        take_ordered(memory);
    if (any_shared)
        take_shared(memory);
}

void SourceCopier::take_ordered(std::size_t memory_bytes)
{
    if (ordered_.buffers.empty())
        ordered_ = ring(kOrderedBuffers, kOrderedBytes, memory_bytes);
}

void SourceCopier::take_shared(std::size_t memory_bytes)
{
    if (!threads_.empty())
        return;
    shared_ = ring(kBuffers, kBufferBytes, memory_bytes);
    // A quarter of the cores remains for threads that read segments and take results.
    const auto num_threads =
        std::clamp<std::size_t>(std::thread::hardware_concurrency() * 3 / 4, 1, kMostThreads);
    piece_bytes_ = pages(shared_.front().bytes.size() / num_threads, kPieceBytes);
    for (std::size_t i = 0; i < num_threads; ++i)
        threads_.emplace_back([this] { serve(); });
}

void SourceCopier::serve()
{
    while (const auto piece = claim()) {
        auto& part = *piece->part;
        std::exception_ptr failure;
        try {
            const WorkStopper::Here here(part.of->stopper);
            throw_if_stopped();
            const auto width = part.of->width();
            part.of->read(part.first + piece->first,
                          part.buffer.bytes.subspan(static_cast<std::size_t>(piece->first) * width,
                                                    static_cast<std::size_t>(piece->count) * width));
        } catch (...) {
            failure = std::current_exception();
        }
        close(part, failure);
    }
}

/// Returns the next piece to read; nothing if the threads must end.
std::optional<SourceCopier::Piece> SourceCopier::claim()
{
    std::unique_lock lock(mutex_);
    while (!is_ending_) {
        if (open_) {
            auto& part = *open_;
            const auto most = static_cast<std::int64_t>(piece_bytes_ / part.of->width());
            Piece piece{open_, part.next, std::min(most, part.count - part.next)};
            part.next += piece.count;
            ++part.reading;
            if (part.next == part.count)
                open_ = nullptr;
            return piece;
        }
        if (unread_.empty() || is_opening_ || shared_.front().is_filling)
            changed_.wait(lock);
        else
            open_part(lock);
    }
    return std::nullopt;
}

/// Waits until the device has copied the earlier contents of the next part's buffer, then opens the part.
void SourceCopier::open_part(std::unique_lock<std::mutex>& lock)
{
    auto& buffer = shared_.front();
    const auto copy = unread_.front();
    is_opening_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
        engine_.wait(*buffer.taken);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    is_opening_ = false;
    changed_.notify_all();
    if (failure)
        drop(*copy, failure);
    if (copy->failure)
        return;
    const auto most = static_cast<std::int64_t>(buffer.bytes.size() / copy->width());
    open_ = std::make_shared<Part>(Part{copy, buffer, copy->next, std::min(most, copy->count - copy->next)});
    copy->next += open_->count;
    ++copy->reading;
    if (copy->next == copy->count)
        unread_.pop_front();
    buffer.is_filling = true;
    ++shared_.next;
}

/// Records the failure of a copy, whose further parts are not read.
void SourceCopier::drop(UnderWay& copy, const std::exception_ptr& failure)
{
    if (!copy.failure)
        copy.failure = failure;
    std::erase_if(unread_, [&](const auto& other) { return other.get() == &copy; });
    copy.next = copy.count;
    if (copy.is_done())
        finished_.notify_all();
}

/// Records the end or the failure of a piece. The last piece of a part queues the part's copy.
void SourceCopier::close(Part& part, const std::exception_ptr& failure)
{
    std::unique_lock lock(mutex_);
    auto& copy = *part.of;
    --part.reading;
    if (failure)
        drop(copy, failure);
    if (part.reading != 0 || part.next != part.count)
        return;
    if (!copy.failure) {
        lock.unlock();
        const auto refused = send(part);
        lock.lock();
        if (refused)
            drop(copy, refused);
    }
    part.buffer.is_filling = false;
    changed_.notify_all();
    --copy.reading;
    if (copy.is_done())
        finished_.notify_all();
}

/// Queues the copy of a part. Returns the failure, if any.
std::exception_ptr SourceCopier::send(Part& part)
{
    const auto width = part.of->width();
    try {
        engine_.copy_in(part.of->device + static_cast<std::size_t>(part.first) * width,
                        part.buffer.bytes.first(static_cast<std::size_t>(part.count) * width), Lane::copies);
        engine_.record(*part.buffer.taken, Lane::copies);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

std::int64_t SourceCopier::read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                                         std::byte* device)
{
    const auto width = size_bytes(source.type());
    for (std::int64_t done = 0; done < count;) {
        auto& buffer = ordered_.front();
        ++ordered_.next;
        engine_.wait(*buffer.taken);
        const auto wanted = std::min(static_cast<std::int64_t>(buffer.bytes.size() / width), count - done);
        auto array = Array::borrow(source.type(), buffer.bytes.data(), static_cast<std::size_t>(wanted));
        const auto found = source.read(begin + done, array);
        const auto bytes = static_cast<std::size_t>(found) * width;
        if (array.data() != buffer.bytes.data() && bytes != 0)
            std::memcpy(buffer.bytes.data(), array.data(), bytes);
        if (bytes != 0)
            engine_.copy_in(device + static_cast<std::size_t>(done) * width, buffer.bytes.first(bytes),
                            Lane::copies);
        engine_.record(*buffer.taken, Lane::copies);
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
    if (source.is_read_in_order()) {
        take_ordered(memory_bytes_);
        return {read_in_order(source, begin, count, device)};
    }
    take_shared(memory_bytes_);
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
    changed_.notify_all();
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
