#pragma once
// Makes the arrays of an operator's parameters for given segments.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold::regress {

/// Makes the arrays of an operator's parameters. Equal arguments must give equal arrays.
using MakeArrays =
    std::function<std::vector<Array>(const Operator& op, const Segments& segments, std::uint64_t seed)>;

/// Makes an array for each parameter. Columns get uniformly distributed values, columns of table indices get
/// valid indices.
[[nodiscard]] std::vector<Array> uniform_arrays(const Operator& op, const Segments& segments,
                                                std::uint64_t seed);

/// Returns a function like uniform_arrays(), except that scalars get the values in `scalars`. These are texts
/// keyed by name.
[[nodiscard]] MakeArrays uniform_arrays_beside(std::map<std::string, std::string> scalars);

}  // namespace segfold::regress
