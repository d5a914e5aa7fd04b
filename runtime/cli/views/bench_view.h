#pragma once
// Prints the measurements of a bench as tables.
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::cli {

/// Returns the lines about the machine: device, compiler and read ceiling.
[[nodiscard]] std::string print(const bench::MachineRecord& machine);

/// Returns the report on one workload.
///
/// It describes the workload and has a row for every stage and peer. Below the table, it lists plans that
/// were abandoned, left out, wrong or failed, with reasons. Last, it compares the chosen plan with the best
/// peer.
[[nodiscard]] std::string print(const bench::WorkloadRecord& record);

}  // namespace segfold::cli
