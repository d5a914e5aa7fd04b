#pragma once
// Prints measurements as a Markdown table.
#include <span>
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// Returns the line above the table, with a line break: device, driver, compiler, date and read ceiling.
[[nodiscard]] std::string markdown_header(const MachineRecord& machine);

/// Returns the title row and the separator row. If `with_operators` is true, the first column names
/// operators.
[[nodiscard]] std::string markdown_titles(bool with_operators);

/// Returns a workload's row: the time and share of the read ceiling of the chosen plan and of the best peer,
/// and the ratio of the two times.
[[nodiscard]] std::string markdown_row(const WorkloadRecord& record, bool with_operators);

/// Returns the last row, with geometric means of the ratios and of both shares.
[[nodiscard]] std::string markdown_mean(std::span<const WorkloadRecord> records, bool with_operators);

/// Returns a number of elements as text, such as "2^28" or "1000".
[[nodiscard]] std::string element_text(std::int64_t count);

}  // namespace segfold::bench
