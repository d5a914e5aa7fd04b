#pragma once
// The data that a run asks for, with reads of tables looked at as far as that takes no time to speak of.
#include "runtime/data/workload_request.h"

namespace segfold {

/// make_workload(); of at most 2^16 items the host looks at every read of a table. Reads by more are checked
/// as they are made.
[[nodiscard]] PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold
