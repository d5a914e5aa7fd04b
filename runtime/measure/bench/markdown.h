#pragma once
// Prints measurements as a Markdown table.
#include <span>
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// Returns the line above the table: device, driver, compiler, date, ceiling. Ends with a line break.
[[nodiscard]] std::string markdown_header(const MachineRecord& machine);

/// Returns the two title lines. `with_operators` adds a first column for the operator.
[[nodiscard]] std::string markdown_titles(bool with_operators);

/// Returns the row of one workload: segfold's time and share of the ceiling, the best peer's time and share,
/// and the ratio of the two times.
[[nodiscard]] std::string markdown_row(const WorkloadRecord& record, bool with_operators);

/// Returns the last row: the geometric means of the ratios and of both shares.
[[nodiscard]] std::string markdown_mean(std::span<const WorkloadRecord> records, bool with_operators);

/// Returns a number of elements as text: "2^28", "1000".
[[nodiscard]] std::string element_text(std::int64_t count);

}  // namespace segfold::bench
