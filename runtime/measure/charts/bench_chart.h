#pragma once
// Makes charts of a bench's measurements.
#include <span>

#include "runtime/measure/bench/record.h"
#include "runtime/support/json_value.h"

namespace segfold::charts {

/// Returns a Vega-Lite specification for measurements; nothing if no plan and no peer has a time.
///
/// For one workload, the chart has a bar for each plan and peer. For several, it has a row for each, with the
/// plan of a run beside the best peer. For three or more sizes of one layout, it has lines over sizes. Values
/// are shares of the read ceiling, or rates if a machine has no ceiling.
[[nodiscard]] std::optional<Json> bench_chart(std::span<const bench::WorkloadRecord> records,
                                              const std::string& machine);

}  // namespace segfold::charts
