#pragma once
// Finds the starts of segments in flags or keys, at about the speed of memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/support/processes/thread_pool.h"

namespace segfold {

/// One byte for each of 64 successive elements: 1 if the element starts a segment, else 0.
using StartMarks = std::array<std::uint8_t, 64>;

/// 16 bytes of flags or keys.
template <class T>
using MarkVector [[gnu::vector_size(16)]] = T;

template <class T>
MarkVector<T> load_vector(const T* from)
{
    MarkVector<T> values;
    std::memcpy(&values, from, sizeof values);
    return values;
}

/// Marks segment starts in flags: every nonzero flag, and the first element.
template <class T>
struct FlagMarks {
    using Value = T;
    const T* flags;

    /// Lane k is nonzero if element `i` + k starts a segment. `i` must not be 0.
    [[nodiscard]] MarkVector<T> vector(std::int64_t i) const { return load_vector(flags + i); }

    /// Sets the marks of `count` elements from `begin` on, at most 64, and clears the other marks. The loop
    /// for 64 elements is vectorised. Ignores `expects_none`, which KeyMarks uses.
    void operator()(std::int64_t begin, std::int64_t count, bool /*expects_none*/, StartMarks& marks) const
    {
        const T* const at = flags + begin;
        if (count == std::ssize(marks)) {
            for (std::size_t i = 0; i < marks.size(); ++i)
                marks[i] = at[i] != 0;
        } else {
            marks = {};
            for (std::int64_t i = 0; i < count; ++i)
                marks[static_cast<std::size_t>(i)] = at[i] != 0;
        }
        if (begin == 0 && count != 0)
            marks[0] = 1;
    }
};

/// Marks segment starts in keys: every key that differs from the preceding key, and the first element.
template <class T>
struct KeyMarks {
    using Value = T;
    const T* keys;

    /// Lane k is nonzero if element `i` + k starts a segment. `i` must not be 0.
    [[nodiscard]] MarkVector<T> vector(std::int64_t i) const
    {
        return load_vector(keys + i) ^ load_vector(keys + i - 1);
    }

    /// True if none of the 64 elements from `begin` on starts a segment, which is common if segments are
    /// long. `begin` must not be 0.
    [[nodiscard]] bool has_none(std::int64_t begin) const
    {
        const T* const at = keys + begin;
        MarkVector<T> any = {};
        for (std::size_t i = 0; i < std::tuple_size_v<StartMarks>; i += sizeof any / sizeof(T))
            any |= load_vector(at + i) ^ load_vector(at - 1 + i);
        const auto words = MarkVector<std::uint64_t>(any);
        return (words[0] | words[1]) == 0;
    }

    /// Sets the marks of `count` elements from `begin` on, at most 64, and clears the other marks. If
    /// `expects_none` is true, compares whole vectors of keys first.
    void operator()(std::int64_t begin, std::int64_t count, bool expects_none, StartMarks& marks) const
    {
        const T* const at = keys + begin;
        if (expects_none && begin != 0 && count == std::ssize(marks) && has_none(begin)) {
            marks = {};
        } else if (begin != 0 && count == std::ssize(marks)) {
            for (std::size_t i = 0; i < marks.size(); ++i)
                marks[i] = at[i] != (at - 1)[i];
        } else {
            marks = {};
            for (std::int64_t i = 0; i < count; ++i)
                marks[static_cast<std::size_t>(i)] = begin + i == 0 || at[i] != at[i - 1];
        }
    }
};

/// After this number of blocks without a start, the next block is expected to have none.
inline constexpr int kEmptyBlocks = 4;

/// Calls `found(i)` for each element from `begin` to `end` - 1 that starts a segment, in order. Skips eight
/// elements at a time if none of them starts a segment.
template <class Marks, class Found>
void for_starts(const Marks& mark, std::int64_t begin, std::int64_t end, Found found)
{
    StartMarks marks;
    for (int num_empty = 0; begin < end; begin += std::ssize(marks)) {
        mark(begin, std::min<std::int64_t>(std::ssize(marks), end - begin), num_empty >= kEmptyBlocks, marks);
        std::uint64_t any = 0;
        for (std::size_t at = 0; at < marks.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, marks.data() + at, 8);
            any |= word;
            if constexpr (std::endian::native == std::endian::big)
                word = __builtin_bswap64(word);
            for (; word != 0; word &= word - 1)
                found(begin + static_cast<std::int64_t>(at) + std::countr_zero(word) / 8);
        }
        num_empty = any == 0 ? num_empty + 1 : 0;
    }
}

/// Returns the number of elements from `begin` to `end` - 1 that start a segment.
template <class Marks>
std::int64_t count_starts(const Marks& mark, std::int64_t begin, std::int64_t end)
{
    using Vector = MarkVector<typename Marks::Value>;
    constexpr std::int64_t kLanes = sizeof(Vector) / sizeof(typename Marks::Value);
    constexpr std::int64_t kBlock = 256;  // elements, so that a lane of 8 bits can count its starts
    StartMarks marks;
    const auto count_marks = [&](std::int64_t at, std::int64_t length) {
        mark(at, length, false, marks);
        return std::accumulate(marks.begin(), marks.end(), std::int64_t{0});
    };
    std::int64_t count = begin < end ? count_marks(begin++, 1) : 0;
    for (; begin + kBlock <= end; begin += kBlock) {
        Vector starts = {};
        for (std::int64_t i = 0; i < kBlock; i += kLanes)
            starts -= Vector(mark.vector(begin + i) != 0);
        for (std::int64_t lane = 0; lane < kLanes; ++lane)
            count += static_cast<std::int64_t>(starts[lane]);
    }
    for (; begin < end; begin += std::ssize(marks))
        count += count_marks(begin, std::min<std::int64_t>(std::ssize(marks), end - begin));
    return count;
}

/// Finds the starts of all segments of `num_elements` elements, on all usable cores.
///
/// Calls `make(count, write)` once. `make` must allocate `count` integers and pass their address to `write`,
/// which stores the starts there.
template <class Marks, class Make>
void find_starts(const Marks& mark, std::int64_t num_elements, Make make)
{
    constexpr std::int64_t kChunk = std::int64_t{1} << 16;  // elements that a thread takes at once
    const std::int64_t num_chunks = (num_elements + kChunk - 1) / kChunk;
    std::vector<std::int64_t> before(static_cast<std::size_t>(num_chunks) + 1);  // starts before each chunk
    const auto end_of = [&](std::int64_t chunk) { return std::min(num_elements, (chunk + 1) * kChunk); };
    ThreadPool::shared().run(num_chunks, [&](std::int64_t chunk) {
        before[static_cast<std::size_t>(chunk) + 1] = count_starts(mark, chunk * kChunk, end_of(chunk));
    });
    for (std::size_t chunk = 1; chunk < before.size(); ++chunk)
        before[chunk] += before[chunk - 1];
    make(before.back(), [&](auto* starts) {
        ThreadPool::shared().run(num_chunks, [&](std::int64_t chunk) {
            auto* place = starts + before[static_cast<std::size_t>(chunk)];
            for_starts(mark, chunk * kChunk, end_of(chunk), [&](std::int64_t i) {
                *place++ = static_cast<std::remove_reference_t<decltype(*place)>>(i);
            });
        });
    });
}

}  // namespace segfold
