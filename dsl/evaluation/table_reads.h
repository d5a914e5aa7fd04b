#pragma once
// Finds the tables that an operator may read past their ends, from the ranges of its data.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// Facts about the data of an operator. A function is called only if a table's index depends on the fact.
struct ReadRanges {
    /// Range of a column of integers or bools, of a table's entries, or of index, position, segment or
    /// length.
    std::function<Interval(const std::string& name)> values;
    std::function<std::int64_t(const std::string& table)> length;
};

/// Names the tables that lift, map or scan of some element may read past their ends, in the order of the
/// parameters.
///
/// A result, or a field of a state, may have any value of its type. Tables that are not named are read inside
/// of their lengths if the data keep to `ranges`. In the sides of `?:`, `&&` and `||`, the condition narrows
/// the ranges of names and of equal expressions.
[[nodiscard]] std::vector<std::string> unproved_tables(const Operator& op, const ReadRanges& ranges);

/// For each column, in the order of the parameters without tables: true if it decides where `lift`, `map` or
/// `scan` reads a table. Scalars do not count as tables here.
[[nodiscard]] std::vector<bool> columns_of_places(const Operator& op);

/// True if results decide where, or whether, `map` reads a table.
[[nodiscard]] bool reads_by_results(const Operator& op);

/// True if the states decide where, or whether, `scan` reads a table.
[[nodiscard]] bool reads_by_states(const Operator& op);

/// True if floating-point arithmetic decides where, or whether, lift reads a table. Back ends that round
/// differently may then read other entries.
[[nodiscard]] bool reads_by_rounding(const Operator& op);

}  // namespace segfold
