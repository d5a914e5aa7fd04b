#include "runtime/session/laws/element_laws.h"

#include <algorithm>
#include <mutex>

#include "runtime/support/processes/segment_blocks.h"

namespace segfold {
namespace {

constexpr std::int64_t kNeighbours = 64;
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

/// Elements that a thread tries at a time.
constexpr std::int64_t kTriedAtOnce = std::int64_t{1} << 14;

}  // namespace

std::optional<CounterExample> differing_neighbours(const Operator& op, const Workload& workload)
{
    return ElementTrial(op, workload.arrays, workload.segments.num_elements, workload.num_features)
        .try_neighbours(kNeighbours);
}

TriedElements try_identity(const Workload& workload, bool finite_alone)
{
    const auto num_elements = workload.segments.num_elements;
    const auto trial = [&] {
        return ElementTrial(workload.op, workload.arrays, num_elements, workload.num_features);
    };
    const auto size = trial().size();
    const auto step = std::max<std::int64_t>(1, (size + kMostElements - 1) / kMostElements);
    const auto stride = kTriedAtOnce * step;
    TriedElements all;
    std::mutex mutex;
    std::int64_t first = size;
    for_blocks((size + stride - 1) / stride, 0, [&](std::int64_t begin, std::int64_t end) {
        auto tried = trial().try_identity(begin * stride, std::min(end * stride, size), step, finite_alone);
        const std::lock_guard lock(mutex);
        all.tried += tried.tried;
        if (tried.counter_example && begin < first) {  // whichever thread was faster
            first = begin;
            all.counter_example = std::move(tried.counter_example);
        }
    });
    return all;
}

}  // namespace segfold
