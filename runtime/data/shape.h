#pragma once
// Finds the sizes of a workload's segments, for the choice of a plan.
#include "codegen/catalogue.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Returns the sizes of segments. Searches for the longest segment, which costs little for workloads that are
/// read or generated once.
[[nodiscard]] Shape shape_of(const Segments& segments);

/// Returns the sizes of a workload's segments, and the length of its rows.
[[nodiscard]] Shape shape_of(const Workload& workload);

/// True if each fold of borrowed arrays searches for the longest segment. It does for up to 2^21 segments.
[[nodiscard]] bool is_looked_at(std::int64_t num_segments);

}  // namespace segfold
