#pragma once
// Measurements as a table for people and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/bench/record.h"
#include "runtime/cli/json.h"

namespace segfold::cli {

/// The lines about the machine: device, compiler, ceiling.
[[nodiscard]] std::string print(const bench::MachineRecord& machine);

/// A workload: what it is, a row for every stage and peer, then what was abandoned, left out, wrong or failed
/// and why, and how the chosen plan stands to the best peer.
[[nodiscard]] std::string print(const bench::WorkloadRecord& record);

[[nodiscard]] Json json_of(const bench::MachineRecord& machine);
[[nodiscard]] Json json_of(const bench::Entry& entry);
[[nodiscard]] Json json_of(const bench::WorkloadRecord& record);

/// Reads what json_of() writes, for measurements that were kept.
[[nodiscard]] bench::MachineRecord machine_from(const Json& document);
[[nodiscard]] bench::WorkloadRecord workload_from(const Json& document);

}  // namespace segfold::cli
