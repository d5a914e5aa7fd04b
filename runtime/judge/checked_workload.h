#pragma once
// Builds the workload of a run. For up to 2^16 items it also checks every table index.
#include "runtime/data/workload_request.h"

namespace segfold {

/// make_workload(); of at most 2^16 items the host looks at every read of a table. Reads by more are checked
/// as they are made.
[[nodiscard]] PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold
