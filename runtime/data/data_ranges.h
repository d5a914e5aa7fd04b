#pragma once
// Finds ranges of a workload's values, and infinities, NaN or -0 among them.
#include <optional>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/laws/laws.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Returns element `i` as a value of its type.
[[nodiscard]] FieldValue value_at(const Array& array, std::int64_t i);
[[nodiscard]] FieldValue value_at(Type type, const void* elements, std::int64_t i);

/// Returns the range of an array of integers; empty for an empty array. For other types, returns the range of
/// all values of the type. All threads search.
[[nodiscard]] Interval values_in(const Array& array);

/// Returns the range of every column, found by all threads.
[[nodiscard]] DataRanges data_ranges(const Workload& workload);

/// Returns the values of the operator's scalars.
[[nodiscard]] ScalarValues scalar_values(const Workload& workload);
/// Returns the values of the operator's scalars. `arrays` holds one array for each parameter; only arrays of
/// scalars are read.
[[nodiscard]] ScalarValues scalar_values(const Operator& op, const std::vector<Array>& arrays);

/// Names the first floating-point column, table or scalar with an infinity or NaN; none if all values are
/// finite. Here and in the next two functions, a column or table that only `map` or `scan` reads does not
/// count, because no law of the operator depends on it.
[[nodiscard]] std::optional<std::string> find_not_finite(const Workload& workload);
/// Names the first floating-point column, table or scalar with an infinity or NaN. `arrays` holds one array
/// for each parameter of `op`.
[[nodiscard]] std::optional<std::string> find_not_finite(const Operator& op,
                                                         const std::vector<Array>& arrays);

/// Names the first column, table or scalar with a NaN; none if no value is NaN. `arrays` holds one array for
/// each parameter. All threads search.
[[nodiscard]] std::optional<std::string> find_nan(const Operator& op, const std::vector<Array>& arrays);

}  // namespace segfold
