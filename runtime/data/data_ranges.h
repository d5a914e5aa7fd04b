#pragma once
// Ranges of a workload's values: their ends, and whether infinities, NaN or -0 are among them.
#include <optional>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/laws/laws.h"
#include "runtime/data/workload.h"

namespace segfold {

/// An element as a value of its type.
[[nodiscard]] FieldValue value_at(const Array& array, std::int64_t i);
[[nodiscard]] FieldValue value_at(Type type, const void* elements, std::int64_t i);

/// The least and the greatest of integers, read by all threads; none of an empty array. Of other types,
/// values_of().
[[nodiscard]] Interval values_in(const Array& array);

/// The range of every column, read by all threads.
[[nodiscard]] DataRanges data_ranges(const Workload& workload);

/// The values of the scalars.
[[nodiscard]] ScalarValues scalar_values(const Workload& workload);
/// The same of arrays, one for each parameter; of others than scalars they may be empty.
[[nodiscard]] ScalarValues scalar_values(const Operator& op, const std::vector<Array>& arrays);

/// The first floating-point column or table with an infinity or NaN; nothing where all values are finite.
[[nodiscard]] std::optional<std::string> find_not_finite(const Workload& workload);
/// The same of the arrays of an operator's parameters.
[[nodiscard]] std::optional<std::string> find_not_finite(const Operator& op,
                                                         const std::vector<Array>& arrays);

/// The first column, table or scalar with a NaN, of arrays that are one for each parameter; read by all
/// threads.
[[nodiscard]] std::optional<std::string> find_nan(const Operator& op, const std::vector<Array>& arrays);

}  // namespace segfold
