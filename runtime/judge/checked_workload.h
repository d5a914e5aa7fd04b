#pragma once
// Builds the data of a run, and checks the table reads of small ones.
#include "runtime/data/workload_request.h"

namespace segfold {

/// Calls make_workload(). For up to 2^16 items, also checks every read of a table on the host. For more
/// items, the back end checks each read when it makes it.
[[nodiscard]] PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold
