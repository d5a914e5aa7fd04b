#pragma once
// The sizes of a workload's segments by which a plan is chosen.
#include "codegen/catalogue.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The sizes that a plan is chosen by, for workloads that are read or generated once. To look for the longest
/// segment takes little time beside that.
[[nodiscard]] Shape shape_of(const Segments& segments);

/// The same with the length of rows.
[[nodiscard]] Shape shape_of(const Workload& workload);

/// Whether the longest of so many segments is looked for at every fold of arrays that a caller lends: up to
/// 2^21.
[[nodiscard]] bool is_looked_at(std::int64_t num_segments);

}  // namespace segfold
