#pragma once
// Finds the sizes of a workload's segments, by which a plan is chosen.
#include "codegen/catalogue.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Returns the sizes of segments. Searches for the longest segment. The search costs little for workloads
/// that are read or generated once.
[[nodiscard]] Shape shape_of(const Segments& segments);

/// Returns the sizes of a workload's segments, and the length of its rows.
[[nodiscard]] Shape shape_of(const Workload& workload);

/// True if each fold of borrowed arrays searches for the longest segment, which it does for up to 2^21
/// segments.
[[nodiscard]] bool is_looked_at(std::int64_t num_segments);

}  // namespace segfold
