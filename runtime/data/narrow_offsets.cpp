#include "runtime/data/narrow_offsets.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/data/segments.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold {

std::optional<Array> narrowed_offsets(const Array& offsets, std::int64_t num_elements, Array room)
{
    constexpr std::int64_t kPart = std::int64_t{1} << 16;
    if (offsets.type() != Type::i64 || offsets.length() == 0 || num_elements > kMaxNarrowIndex)
        return std::nullopt;
    const auto from = offsets.as<std::int64_t>();
    const auto count = static_cast<std::int64_t>(offsets.length());
    if (from.front() != 0 || from.back() != num_elements || count > kMaxNarrowIndex)
        return std::nullopt;
    const bool fits = room.type() == Type::i32 && room.length() == offsets.length();
    auto narrow = fits ? std::move(room) : Array(Type::i32, offsets.length());
    auto* const into = narrow.as<std::int32_t>().data();
    std::atomic<bool> is_right = true;
    ThreadPool::shared().run((count + kPart - 1) / kPart, [&](std::int64_t part) {
        const auto begin = part * kPart, end = std::min(count, begin + kPart);
        const auto* const values = from.data();
        bool falls = begin > 0 && values[begin] < values[begin - 1];
        for (std::int64_t i = begin; i + 1 < end; ++i)
            falls |= values[i + 1] < values[i];
        for (std::int64_t i = begin; i < end; ++i)
            into[i] = static_cast<std::int32_t>(values[i]);
        if (falls)
            is_right = false;
    });
    return is_right ? std::optional(std::move(narrow)) : std::nullopt;
}

}  // namespace segfold
