#pragma once
// Charts of benches: plans and peers of one workload, or the plan of a run beside the best peer of many.
#include <span>

#include "runtime/measure/bench/record.h"
#include "runtime/support/json_value.h"

namespace segfold::charts {

/// Returns the specification of a chart of measurements; nothing if no plan and no peer has a time.
///
/// One workload has a bar for each plan and peer. Several have a row each, with the plan of a run beside the
/// best peer; or lines over sizes, if they are at least three sizes of one layout. Bars are shares of the
/// read ceiling, or rates where a machine has no ceiling.
[[nodiscard]] std::optional<Json> bench_chart(std::span<const bench::WorkloadRecord> records,
                                              const std::string& machine);

}  // namespace segfold::charts
