#pragma once
// Builds the data of a run, and checks the table reads of small data.
#include <functional>

#include "runtime/data/workload_request.h"

namespace segfold {

/// Builds the workload as make_workload() does. If it has at most 2^16 items, also checks every table read on
/// the host. If it has more, the back end checks the reads during the run.
[[nodiscard]] PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request);

/// Calls `work`, which folds the workload. If an element reads outside of a table, the error names the
/// element's index before the elements were sorted.
void naming_places(const PreparedWorkload& prepared, const std::function<void()>& work);

}  // namespace segfold
