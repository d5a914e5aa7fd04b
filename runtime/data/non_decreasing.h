#pragma once
// Checks that offsets do not decrease, at the speed of memory.
#include <atomic>
#include <cstdint>
#include <iterator>
#include <span>

#include "runtime/support/processes/parallel.h"

namespace segfold {

/// True if no value is less than its predecessor. A caller's offsets are checked before every fold. So
/// several threads check blocks without branches.
template <class T>
bool is_non_decreasing(std::span<const T> values)
{
    constexpr std::int64_t kBlock = 1024;
    constexpr std::int64_t kSmallestPart = std::int64_t{1} << 18;
    std::atomic<bool> falls = false;
    const auto falls_in = [](const T* at, std::int64_t count) {
        T found = 0;
        for (std::int64_t i = 0; i < count; ++i)
            found |= static_cast<T>(at[i + 1] < at[i]);
        return found != 0;
    };
    parallel_for(std::ssize(values) - 1, kSmallestPart, [&](std::int64_t begin, std::int64_t end) {
        for (; end - begin >= kBlock; begin += kBlock)
            if (falls_in(values.data() + begin, kBlock))
                falls = true;
        if (falls_in(values.data() + begin, end - begin))
            falls = true;
    });
    return !falls;
}

}  // namespace segfold
