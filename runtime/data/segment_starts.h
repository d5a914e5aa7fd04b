#pragma once
// Finds the starts of segments in flags or keys, at about the speed of memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/support/processes/thread_pool.h"

namespace segfold {

/// One byte for each of 64 neighbouring elements: 1 if it starts a segment, else 0.
using StartMarks = std::array<std::uint8_t, 64>;

/// Marks segment starts in flags: every nonzero flag, and the first element.
template <class T>
struct FlagMarks {
    const T* flags;

    /// Marks `count` elements from `begin` on, at most 64; the other marks become 0. For 64 elements the loop
    /// is vectorised.
    void operator()(std::int64_t begin, std::int64_t count, StartMarks& marks) const
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

/// Marks segment starts in keys: every key that differs from the key before, and the first element.
template <class T>
struct KeyMarks {
    const T* keys;

    /// True if 65 keys from `first` on are equal, as in most blocks of long segments. Compares a vector at a
    /// time.
    static bool are_equal(const T* first)
    {
        using Vector [[gnu::vector_size(16)]] = std::uint64_t;
        Vector differences = {};
        for (std::size_t i = 0; i < std::tuple_size_v<StartMarks>; i += sizeof(Vector) / sizeof(T)) {
            Vector here, next;
            std::memcpy(&here, first + i, sizeof here);
            std::memcpy(&next, first + i + 1, sizeof next);
            differences |= here ^ next;
        }
        return (differences[0] | differences[1]) == 0;
    }

    /// Marks `count` elements from `begin` on, at most 64; the other marks become 0.
    void operator()(std::int64_t begin, std::int64_t count, StartMarks& marks) const
    {
        const T* const at = keys + begin;
        if (begin != 0 && count == std::ssize(marks) && are_equal(at - 1)) {
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

/// Calls `found(i)` for each element from `begin` to `end` - 1 that starts a segment, in order. Skips eight
/// elements at a time if none of them starts a segment.
template <class Marks, class Found>
void for_starts(const Marks& mark, std::int64_t begin, std::int64_t end, Found found)
{
    StartMarks marks;
    for (; begin < end; begin += std::ssize(marks)) {
        mark(begin, std::min<std::int64_t>(std::ssize(marks), end - begin), marks);
        for (std::size_t at = 0; at < marks.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, marks.data() + at, 8);
            if constexpr (std::endian::native == std::endian::big)
                word = __builtin_bswap64(word);
            for (; word != 0; word &= word - 1)
                found(begin + static_cast<std::int64_t>(at) + std::countr_zero(word) / 8);
        }
    }
}

/// Returns the number of elements from `begin` to `end` - 1 that start a segment.
template <class Marks>
std::int64_t count_starts(const Marks& mark, std::int64_t begin, std::int64_t end)
{
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    StartMarks marks;
    std::int64_t count = 0;
    for (; begin < end; begin += std::ssize(marks)) {
        mark(begin, std::min<std::int64_t>(std::ssize(marks), end - begin), marks);
        std::uint64_t sums = 0;  // eight sums of bytes, each at most 8
        for (std::size_t at = 0; at < marks.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, marks.data() + at, 8);
            sums += word;
        }
        count += static_cast<std::int64_t>(sums * kOnes >> 56);
    }
    return count;
}

/// Finds the starts of all segments of `num_elements` elements, on all usable cores. Calls `make(count,
/// write)` once. `make` must allocate `count` integers and pass their address to `write`, which stores the
/// starts there.
template <class Marks, class Make>
void find_starts(const Marks& mark, std::int64_t num_elements, Make make)
{
    constexpr std::int64_t kChunk = std::int64_t{1} << 16;  // elements that a thread takes at a time
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
