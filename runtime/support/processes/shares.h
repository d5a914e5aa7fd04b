#pragma once
// Consecutive shares of elements, for work that keeps something for each share.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold {

/// Cuts elements into equal shares, at most one for each core, of at least `smallest` elements if there is
/// more than one.
struct Shares {
    Shares(std::int64_t num_elements, std::int64_t smallest)
        : count(num_elements),
          number(std::clamp<std::int64_t>(num_elements / smallest, 1, num_usable_cores()))
    {}

    [[nodiscard]] std::size_t begin(std::int64_t share) const
    {
        return static_cast<std::size_t>(count / number * share + std::min(share, count % number));
    }
    /// Calls `work(share, begin, end)` for each share, side by side.
    void each(const auto& work) const
    {
        parallel_for(number, 1, [&](std::int64_t first, std::int64_t last) {
            for (auto share = first; share < last; ++share)
                work(static_cast<std::size_t>(share), begin(share), begin(share + 1));
        });
    }

    std::int64_t count, number;
};

}  // namespace segfold
