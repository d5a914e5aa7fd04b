#pragma once
// Measurements as JSON, written and read.
#include "runtime/bench/record.h"
#include "runtime/support/json_value.h"

namespace segfold::bench {

[[nodiscard]] Json json_of(const MachineRecord& machine);
[[nodiscard]] Json json_of(const Entry& entry);
[[nodiscard]] Json json_of(const WorkloadRecord& record);

/// Reads what json_of() writes, for measurements that were kept.
[[nodiscard]] MachineRecord machine_from(const Json& document);
[[nodiscard]] WorkloadRecord workload_from(const Json& document);

}  // namespace segfold::bench
