#pragma once
// Shows measurements as tables for people.
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::cli {

/// Returns the lines about the machine: device, compiler, ceiling.
[[nodiscard]] std::string print(const bench::MachineRecord& machine);

/// Returns the text on a workload.
///
/// It describes the workload and has a row for every stage and peer. Then it lists what was abandoned, left
/// out, wrong or failed, with reasons, and compares the chosen plan with the best peer.
[[nodiscard]] std::string print(const bench::WorkloadRecord& record);

}  // namespace segfold::cli
