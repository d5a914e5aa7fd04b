#pragma once
// Finds tables that an operator may read past their ends. The ranges of the data decide.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// Facts about an operator's data, as functions. Each is called only if a table's index depends on the fact.
struct ReadRanges {
    /// Range of a column of integers or bools, of a table's entries, or of index, position, segment or
    /// length.
    std::function<Interval(const std::string& name)> values;
    std::function<std::int64_t(const std::string& table)> length;
};

/// Returns the names of the tables that some element may read past their ends, in the order of the
/// parameters. Looks at lift, map and scan.
///
/// Results and fields of a state may have any value of their types. If the data keep to `ranges`, all other
/// tables are read within their lengths. In the sides of `?:`, `&&` and `||`, the condition narrows the
/// ranges of names and of equal expressions.
[[nodiscard]] std::vector<std::string> unproved_tables(const Operator& op, const ReadRanges& ranges);

/// Returns one entry for each parameter that is no table, in their order. The entry is true if this column
/// decides where `lift`, `map` or `scan` reads a table. Scalars do not count as tables here.
[[nodiscard]] std::vector<bool> columns_of_places(const Operator& op);

/// True if results decide where, or whether, `map` reads a table.
[[nodiscard]] bool reads_by_results(const Operator& op);

/// True if the states decide where, or whether, `scan` reads a table.
[[nodiscard]] bool reads_by_states(const Operator& op);

/// True if floating-point arithmetic decides where, or whether, lift reads a table. Back ends that round
/// differently may then read different entries.
[[nodiscard]] bool reads_by_rounding(const Operator& op);

}  // namespace segfold
