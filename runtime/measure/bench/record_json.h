#pragma once
// Measurements as JSON, written and read.
#include "runtime/measure/bench/record.h"
#include "runtime/support/json_value.h"

namespace segfold::bench {

[[nodiscard]] Json json_of(const MachineRecord& machine);
[[nodiscard]] Json json_of(const Entry& entry);
[[nodiscard]] Json json_of(const WorkloadRecord& record);

/// Reads kept measurements, as json_of() writes them. Throws InputError that names the place of a missing or
/// wrong member.
[[nodiscard]] MachineRecord machine_from(const JsonValue& document);
[[nodiscard]] WorkloadRecord workload_from(const JsonValue& document);

}  // namespace segfold::bench
