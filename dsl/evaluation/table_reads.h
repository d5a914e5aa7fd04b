#pragma once
// Where an operator reads its tables, deduced from the ranges of its data.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// Known facts of an operator's data; asked for only if an index depends on them.
struct ReadRanges {
    /// The values of a column of integers or bools, of the elements of a table, of index, position, segment.
    std::function<Interval(const std::string& name)> values;
    std::function<std::int64_t(const std::string& table)> length;
};

/// The tables that some element may read past their end, in the order of the parameters.
///
/// Every other table is read inside, whatever the elements are, as long as they lie in the ranges. In the
/// sides of `?:`, `&&` and `||`, their condition narrows the ranges of names and of equal expressions.
[[nodiscard]] std::vector<std::string> unproved_tables(const Operator& op, const ReadRanges& ranges);

/// Whether each column, in the order of the parameters without tables, decides where `lift` reads
/// a table. A scalar is read at no place.
[[nodiscard]] std::vector<bool> columns_of_places(const Operator& op);

/// Whether floating-point arithmetic decides where, or whether, a table is read: then back ends that round
/// differently may read different places.
[[nodiscard]] bool reads_by_rounding(const Operator& op);

}  // namespace segfold
