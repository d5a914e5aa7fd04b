#pragma once
// What the values of a workload are: their ends, and whether infinities, NaN or -0 are among them.
#include <optional>
#include <string>

#include "dsl/laws/laws.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The range of every column, read by all threads.
[[nodiscard]] DataRanges data_ranges(const Workload& workload);

/// The values of the scalars, in the order of the parameters.
[[nodiscard]] std::vector<FieldValue> scalar_values(const Workload& workload);

/// The first floating-point column or table with an infinity or NaN; nothing where all values are finite.
[[nodiscard]] std::optional<std::string> find_not_finite(const Workload& workload);

}  // namespace segfold
