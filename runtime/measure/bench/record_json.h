#pragma once
// Writes measurements as JSON, and reads them.
#include "runtime/measure/bench/record.h"
#include "runtime/support/json_value.h"

namespace segfold::bench {

[[nodiscard]] Json json_of(const MachineRecord& machine);
[[nodiscard]] Json json_of(const Entry& entry);
[[nodiscard]] Json json_of(const WorkloadRecord& record);

/// Reads measurements that json_of() has written. Throws InputError if a member is missing or malformed; the
/// message names the member.
[[nodiscard]] MachineRecord machine_from(const JsonValue& document);
[[nodiscard]] WorkloadRecord workload_from(const JsonValue& document);

}  // namespace segfold::bench
