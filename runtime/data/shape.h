#pragma once
// Finds the sizes of a workload's segments, by which a plan is chosen.
#include "codegen/catalogue.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Returns the sizes of segments. For workloads that are read or generated once, since finding the longest
/// segment costs little beside that.
[[nodiscard]] Shape shape_of(const Segments& segments);

/// Returns the sizes of a workload's segments, and the length of its rows.
[[nodiscard]] Shape shape_of(const Workload& workload);

/// True if the longest of this many segments is searched at every fold of borrowed arrays: up to 2^21.
[[nodiscard]] bool is_looked_at(std::int64_t num_segments);

}  // namespace segfold
