#pragma once
// Makes the arrays of an operator's parameters for a layout.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold::regress {

/// Makes the arrays of an operator's parameters. The result must depend only on the arguments.
using MakeArrays =
    std::function<std::vector<Array>(const Operator& op, const Segments& segments, std::uint64_t seed)>;

/// Makes an array for each parameter: uniformly distributed values for a column, valid indices for a column
/// that indexes a table, and the tables.
[[nodiscard]] std::vector<Array> uniform_arrays(const Operator& op, const Segments& segments,
                                                std::uint64_t seed);

/// Returns a function like uniform_arrays(). It takes the scalar parameters from `scalars`, which has texts
/// by name.
[[nodiscard]] MakeArrays uniform_arrays_beside(std::map<std::string, std::string> scalars);

}  // namespace segfold::regress
