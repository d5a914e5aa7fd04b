#pragma once
// Measurements as a table for people.
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::cli {

/// The lines about the machine: device, compiler, ceiling.
[[nodiscard]] std::string print(const bench::MachineRecord& machine);

/// A workload: its description, a row for every stage and peer, then abandoned, left out, wrong and failed
/// ones with reasons, and the chosen plan beside the best peer.
[[nodiscard]] std::string print(const bench::WorkloadRecord& record);

}  // namespace segfold::cli
