#pragma once
// Measurements as a Markdown table.
#include <span>
#include <string>

#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// The line above the table: device, driver, compiler, date, ceiling. Ends with a line break.
[[nodiscard]] std::string markdown_header(const MachineRecord& machine);

/// The titles of the columns, two lines; with `with_operators` the operator comes first.
[[nodiscard]] std::string markdown_titles(bool with_operators);

/// One workload: what segfold takes and the share of the ceiling it reaches, the best peer and its share, the
/// ratio of their times.
[[nodiscard]] std::string markdown_row(const WorkloadRecord& record, bool with_operators);

/// The last line: the geometric mean of the ratios, and of both shares.
[[nodiscard]] std::string markdown_mean(std::span<const WorkloadRecord> records, bool with_operators);

/// "2^28", "1000"
[[nodiscard]] std::string element_text(std::int64_t count);

}  // namespace segfold::bench
