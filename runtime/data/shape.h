#pragma once
// Finds the sizes of a workload's segments, by which a plan is chosen.
#include "codegen/catalogue.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Returns the sizes of segments. Searches for the longest segment, so call it for workloads that are read or
/// generated once: there, the search costs little.
[[nodiscard]] Shape shape_of(const Segments& segments);

/// Returns the sizes of a workload's segments, and the length of its rows.
[[nodiscard]] Shape shape_of(const Workload& workload);

/// True if a fold of borrowed arrays searches for the longest segment each time: up to 2^21 segments.
[[nodiscard]] bool is_looked_at(std::int64_t num_segments);

}  // namespace segfold
