#include "runtime/session/laws/element_laws.h"

namespace segfold {
namespace {

constexpr std::int64_t kNeighbours = 64;

}  // namespace

std::optional<CounterExample> differing_neighbours(const Operator& op, const Workload& workload)
{
    return ElementTrial(op, workload.arrays, workload.segments.num_elements, workload.num_features)
        .try_neighbours(kNeighbours);
}

}  // namespace segfold
