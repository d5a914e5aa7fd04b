#pragma once
// Splits elements into consecutive shares, for loops that keep a result for each share.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold {

/// Equal shares of elements, at most one for each core. If there are several shares, each has at least
/// `smallest` elements.
struct Shares {
    Shares(std::int64_t num_elements, std::int64_t smallest)
        : count(num_elements),
          number(std::clamp<std::int64_t>(num_elements / smallest, 1, num_usable_cores()))
    {}

    [[nodiscard]] std::size_t begin(std::int64_t share) const
    {
        return static_cast<std::size_t>(count / number * share + std::min(share, count % number));
    }
    /// Calls `work(share, begin, end)` for all shares in parallel.
    void each(const auto& work) const
    {
        parallel_for(number, 1, [&](std::int64_t first, std::int64_t last) {
            for (auto share = first; share < last; ++share)
                work(static_cast<std::size_t>(share), begin(share), begin(share + 1));
        });
    }

    std::int64_t count, number;
};

/// Returns the least and the greatest value. `values` must not be empty.
template <class Value>
std::pair<Value, Value> extremes_of(std::span<const Value> values, std::int64_t smallest_share)
{
    const Shares shares(std::ssize(values), smallest_share);
    std::vector<std::pair<Value, Value>> found(static_cast<std::size_t>(shares.number));
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        // Independent chains of comparisons need not wait for each other.
        constexpr std::size_t kLanes = 16;
        std::array<Value, kLanes> least, greatest;
        least.fill(values[begin]);
        greatest.fill(values[begin]);
        for (; begin + kLanes <= end; begin += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                least[lane] = std::min(least[lane], values[begin + lane]);
                greatest[lane] = std::max(greatest[lane], values[begin + lane]);
            }
        for (; begin < end; ++begin) {
            least[0] = std::min(least[0], values[begin]);
            greatest[0] = std::max(greatest[0], values[begin]);
        }
        found[share] = {std::ranges::min(least), std::ranges::max(greatest)};
    });
    auto all = found.front();
    for (const auto& [least, greatest] : found)
        all = {std::min(all.first, least), std::max(all.second, greatest)};
    return all;
}

}  // namespace segfold
