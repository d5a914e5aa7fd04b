#pragma once
// Measurements as a table for people.
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::cli {

/// The lines about the machine: device, compiler, ceiling.
[[nodiscard]] std::string print(const bench::MachineRecord& machine);

/// A workload: what it is, a row for every stage and peer, then what was abandoned, left out, wrong or failed
/// and why, and how the chosen plan stands to the best peer.
[[nodiscard]] std::string print(const bench::WorkloadRecord& record);

}  // namespace segfold::cli
