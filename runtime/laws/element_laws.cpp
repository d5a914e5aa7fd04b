#include "runtime/laws/element_laws.h"

#include <algorithm>
#include <mutex>

#include "runtime/laws/telling_elements.h"
#include "runtime/support/processes/segment_blocks.h"

namespace segfold {
namespace {

constexpr std::int64_t kNeighbours = 64;
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

/// Number of elements that a thread takes at a time.
constexpr std::int64_t kTriedAtOnce = std::int64_t{1} << 14;

/// An identity that no search has refuted is tried on `kSomeElements` elements, or on `kSomeOfNotFinite` if
/// some values are not finite.
constexpr std::int64_t kSomeElements = 1024;
constexpr std::int64_t kSomeOfNotFinite = std::int64_t{1} << 16;

/// Tries the identity on at most `most` evenly spaced elements.
TriedElements try_spread(const Operator& op, const std::vector<Array>& arrays, std::int64_t num_elements,
                         std::int64_t num_features, Elements elements, std::int64_t most)
{
    const auto trial = [&] { return ElementTrial(op, arrays, num_elements, num_features); };
    auto first_trial = trial();
    const auto size = first_trial.size();
    const auto step = std::max<std::int64_t>(1, (size + most - 1) / most);
    const auto stride = kTriedAtOnce * step;
    if (size <= stride)
        return first_trial.try_identity(0, size, step, elements);
    TriedElements all;
    std::mutex mutex;
    std::int64_t first = size;
    for_blocks((size + stride - 1) / stride, 0, [&](std::int64_t begin, std::int64_t end) {
        auto tried = trial().try_identity(begin * stride, std::min(end * stride, size), step, elements);
        const std::lock_guard lock(mutex);
        all.tried += tried.tried;
        // Keeps the counter-example with the lowest index, so that the outcome does not depend on the speed
        // of threads.
        if (tried.counter_example && begin < first) {
            first = begin;
            all.counter_example = std::move(tried.counter_example);
        }
    });
    return all;
}

}  // namespace

std::optional<CounterExample> differing_neighbours(const Operator& op, const Workload& workload)
{
    return ElementTrial(op, workload.arrays, workload.segments.num_elements, workload.num_features)
        .try_neighbours(kNeighbours);
}

TriedElements try_identity(const Workload& workload, Elements elements)
{
    return try_spread(workload.op, workload.arrays, workload.segments.num_elements, workload.num_features,
                      elements, kMostElements);
}

TriedElements try_identity_on_some(const Operator& op, const std::vector<Array>& arrays,
                                   std::int64_t num_elements, std::int64_t num_features, Elements elements)
{
    ElementTrial trial(op, arrays, num_elements, num_features);
    if (trial.size() <= kSomeElements)
        return trial.try_identity(0, trial.size(), 1, elements);
    const auto telling = telling_elements(op, arrays, num_features);
    for (const auto number : telling.numbers)
        if (auto tried = trial.try_identity(number, number + 1, 1, elements); tried.counter_example)
            return tried;
    return try_spread(op, arrays, num_elements, num_features, elements,
                      telling.are_finite ? kSomeElements : kSomeOfNotFinite);
}

}  // namespace segfold
