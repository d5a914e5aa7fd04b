#pragma once
// Finds the ranges of a workload's values, and infinities, NaN or -0 among the values.
#include <optional>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/laws/laws.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Returns element `i` of `array` as a value of its type.
[[nodiscard]] FieldValue value_at(const Array& array, std::int64_t i);
[[nodiscard]] FieldValue value_at(Type type, const void* elements, std::int64_t i);

/// Returns the range of an array of integers; empty for an empty array. For other types, returns the range of
/// all values of the type. Searches with all threads.
[[nodiscard]] Interval values_in(const Array& array);

/// Returns the range of every column. Searches with all threads.
[[nodiscard]] DataRanges data_ranges(const Workload& workload);

/// Returns the values of the operator's scalars.
[[nodiscard]] ScalarValues scalar_values(const Workload& workload);
/// Returns the values of the operator's scalars. `arrays` has one array for each parameter; only the arrays
/// of scalars are read.
[[nodiscard]] ScalarValues scalar_values(const Operator& op, const std::vector<Array>& arrays);

/// Returns the name of the first floating-point column, table or scalar with an infinity or NaN; nothing if
/// all values are finite. This and the next two functions ignore columns and tables that only `map` or `scan`
/// reads, because no law of the operator depends on them.
[[nodiscard]] std::optional<std::string> find_not_finite(const Workload& workload);
/// Returns the name of the first floating-point column, table or scalar with an infinity or NaN. `arrays` has
/// one array for each parameter of `op`.
[[nodiscard]] std::optional<std::string> find_not_finite(const Operator& op,
                                                         const std::vector<Array>& arrays);

/// Returns the name of the first column, table or scalar with a NaN; nothing if there is none. `arrays` has
/// one array for each parameter. Searches with all threads.
[[nodiscard]] std::optional<std::string> find_nan(const Operator& op, const std::vector<Array>& arrays);

}  // namespace segfold
