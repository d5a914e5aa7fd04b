#pragma once
// Finding where segments start, in flags or keys, at about the speed of memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/support/processes/thread_pool.h"

namespace segfold {

/// Which of 64 neighbouring elements start a segment: a byte of 0 or 1 for each.
using StartMarks = std::array<std::uint8_t, 64>;

/// Marks of flags: each that is not 0, and the first of all.
template <class T>
struct FlagMarks {
    const T* flags;

    /// Marks `count` elements from `begin` on, 64 at most; the others become 0. With 64 the loop is one of
    /// vectors.
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

/// Marks of keys: each that differs from the one before, and the first of all.
template <class T>
struct KeyMarks {
    const T* keys;

    /// As FlagMarks does.
    void operator()(std::int64_t begin, std::int64_t count, StartMarks& marks) const
    {
        const T* const at = keys + begin;
        if (begin != 0 && count == std::ssize(marks)) {
            for (std::size_t i = 0; i < marks.size(); ++i)
                marks[i] = at[i] != (at - 1)[i];
        } else {
            marks = {};
            for (std::int64_t i = 0; i < count; ++i)
                marks[static_cast<std::size_t>(i)] = begin + i == 0 || at[i] != at[i - 1];
        }
    }
};

/// Calls `found(i)` for each element from `begin` on and before `end` that starts a segment, in order, eight
/// elements without a start at a time.
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

/// How many elements from `begin` on and before `end` start a segment.
template <class Marks>
std::int64_t count_starts(const Marks& mark, std::int64_t begin, std::int64_t end)
{
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    StartMarks marks;
    std::int64_t count = 0;
    for (; begin < end; begin += std::ssize(marks)) {
        mark(begin, std::min<std::int64_t>(std::ssize(marks), end - begin), marks);
        std::uint64_t sums = 0;  // of eight bytes each, 8 at most
        for (std::size_t at = 0; at < marks.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, marks.data() + at, 8);
            sums += word;
        }
        count += static_cast<std::int64_t>(sums * kOnes >> 56);
    }
    return count;
}

/// Finds the starts of all segments of `num_elements`, by all usable cores. `make(count, write)` is called
/// once: it makes room for `count` integers, and gives `write` a pointer to it.
template <class Marks, class Make>
void find_starts(const Marks& mark, std::int64_t num_elements, Make make)
{
    constexpr std::int64_t kChunk = std::int64_t{1} << 16;  // elements that one thread looks at at a time
    const std::int64_t num_chunks = (num_elements + kChunk - 1) / kChunk;
    std::vector<std::int64_t> before(static_cast<std::size_t>(num_chunks) + 1);  // starts before a chunk
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
