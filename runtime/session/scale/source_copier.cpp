#include "runtime/session/scale/source_copier.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace segfold {
namespace {

using Lane = SliceEngine::Lane;

constexpr std::size_t kMostThreads = 16;
constexpr std::size_t kBufferBytes = std::size_t{16} << 20;
constexpr std::size_t kSmallestPiece = 4096;
constexpr std::size_t kPiecesEach = 2;  // of a buffer, for each thread
/// Of what lies in page-locked memory: copies of other lanes come between two of them.
constexpr std::size_t kBytesAtOnce = std::size_t{32} << 20;

}  // namespace

SourceCopier::SourceCopier(SliceEngine& engine, std::int64_t memory_bytes)
    : engine_(engine),
      num_threads_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads))
{
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(memory_bytes, 0)) / kBuffers;
    const auto room = std::clamp(most, kSmallestPiece, kBufferBytes);
    const auto share = room / (num_threads_ * kPiecesEach) / kSmallestPiece * kSmallestPiece;
    piece_bytes_ = std::max(share, kSmallestPiece);
    buffer_bytes_ = room / piece_bytes_ * piece_bytes_;
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
    memory_ = engine_.host_memory(kBuffers * buffer_bytes_);
    const std::span bytes(memory_->address(), memory_->bytes());
    for (std::size_t i = 0; i < kBuffers; ++i) {
        buffers_.emplace_back();
        buffers_.back().bytes = bytes.subspan(i * buffer_bytes_, buffer_bytes_);
        buffers_.back().taken = engine_.new_mark();
    }
}

void SourceCopier::start_threads()
{
    while (threads_.size() + 1 < num_threads_)
        threads_.emplace_back([this] { serve(); });
}

/// Readies the buffer of a part, by the thread that has its first piece, or waits until that is done. False
/// where the job has failed.
bool SourceCopier::open(std::int64_t part, bool is_first)
{
    auto& buffer = buffer_of(part);
    std::unique_lock lock(mutex_);
    if (!is_first) {
        changed_.wait(lock, [&] { return failure_ || buffer.filled_with == part; });
        return !failure_;
    }
    changed_.wait(lock, [&] { return failure_ || part < kBuffers || buffer.sent_with == part - kBuffers; });
    if (failure_)
        return false;
    lock.unlock();
    engine_.wait(*buffer.taken);
    lock.lock();
    buffer.filled_with = part;
    const auto pieces = job_.part / job_.piece;
    buffer.pieces_left = std::min(pieces, job_.num_pieces - part * pieces);
    changed_.notify_all();
    return true;
}

/// Reads a piece into its place in a buffer.
void SourceCopier::read_piece(std::int64_t piece, std::span<std::byte> room)
{
    const auto width = size_bytes(job_.source->type());
    const auto first = piece * job_.piece;
    if (job_.lent != nullptr) {
        std::memcpy(room.data(), job_.lent + static_cast<std::size_t>(first) * width, room.size());
        return;
    }
    auto array = Array::borrow(job_.source->type(), room.data(), room.size() / width);
    job_.source->read(job_.begin + first, array);
    if (array.data() != room.data())  // a source may give memory of its own
        std::memcpy(room.data(), array.data(), room.size());
}

/// Notes that a piece is read; the last one of a part queues the copy.
void SourceCopier::close_piece(std::int64_t part)
{
    auto& buffer = buffer_of(part);
    {
        const std::lock_guard lock(mutex_);
        if (--buffer.pieces_left != 0)
            return;
    }
    const auto width = size_bytes(job_.source->type());
    const auto first = part * job_.part;
    const auto bytes = static_cast<std::size_t>(std::min(job_.part, job_.count - first)) * width;
    engine_.copy_in(job_.device + static_cast<std::size_t>(first) * width, buffer.bytes.first(bytes),
                    Lane::copies);
    engine_.record(*buffer.taken, Lane::copies);
    const std::lock_guard lock(mutex_);
    buffer.sent_with = part;
    changed_.notify_all();
}

void SourceCopier::read_pieces()
{
    const auto width = size_bytes(job_.source->type());
    const auto each = job_.part / job_.piece;
    try {
        for (auto piece = job_.next++; piece < job_.num_pieces; piece = job_.next++) {
            const auto part = piece / each, place = piece % each;
            if (!open(part, place == 0))
                return;
            const auto count = std::min(job_.piece, job_.count - piece * job_.piece);
            read_piece(piece,
                       buffer_of(part).bytes.subspan(static_cast<std::size_t>(place * job_.piece) * width,
                                                     static_cast<std::size_t>(count) * width));
            close_piece(part);
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        job_.next = job_.num_pieces;
        if (!failure_)
            failure_ = std::current_exception();
        changed_.notify_all();
    }
}

void SourceCopier::serve()
{
    for (std::uint64_t seen = 0;;) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return is_ending_ || round_ != seen; });
            if (is_ending_)
                return;
            seen = round_;
        }
        read_pieces();
        const std::lock_guard lock(mutex_);
        if (--working_ == 0)
            changed_.notify_all();
    }
}

std::int64_t SourceCopier::read_in_order(ArraySource& source, std::int64_t begin, std::int64_t count,
                                         std::byte* device)
{
    const auto width = size_bytes(source.type());
    const auto most = static_cast<std::int64_t>(buffer_bytes_ / width);
    for (std::int64_t done = 0; done < count;) {
        auto& buffer = buffer_of(next_buffer_++);
        engine_.wait(*buffer.taken);
        const auto wanted = std::min(most, count - done);
        auto array = Array::borrow(source.type(), buffer.bytes.data(), static_cast<std::size_t>(wanted));
        const auto found = source.read(begin + done, array);
        const auto filled = buffer.bytes.first(static_cast<std::size_t>(found) * width);
        if (array.data() != filled.data() && !filled.empty())
            std::memcpy(filled.data(), array.data(), filled.size());
        if (!filled.empty())
            engine_.copy_in(device + static_cast<std::size_t>(done) * width, filled, Lane::copies);
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
            const auto part = left.first(std::min(left.size(), kBytesAtOnce));
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
    job_.piece = static_cast<std::int64_t>(piece_bytes_ / width);
    job_.part = static_cast<std::int64_t>(buffer_bytes_ / width);
    job_.num_pieces = (count + job_.piece - 1) / job_.piece;
    job_.device = device;
    job_.next = 0;
    start_threads();
    {
        const std::lock_guard lock(mutex_);
        for (auto& buffer : buffers_)
            buffer.filled_with = buffer.sent_with = -1;
        ++round_;
        working_ = threads_.size();
    }
    changed_.notify_all();
    read_pieces();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return working_ == 0; });
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
    return count;
}

}  // namespace segfold
