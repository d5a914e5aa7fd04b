#pragma once
// Builds the data of a run. If the data are small, also checks all reads of tables.
#include <functional>

#include "runtime/data/workload_request.h"

namespace segfold {

/// Builds the workload as make_workload() does. For up to 2^16 items, also checks every read of a table on
/// the host. For more items, the back end checks each read during the run.
[[nodiscard]] PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request);

/// Calls `work`, which folds the workload. If an element reads outside of a table, the error names the
/// element's place before elements were sorted.
void naming_places(const PreparedWorkload& prepared, const std::function<void()>& work);

}  // namespace segfold
