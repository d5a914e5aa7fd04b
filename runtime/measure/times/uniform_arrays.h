#pragma once
// Arrays of an operator's parameters, made for a layout.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold::regress {

/// Makes the arrays of an operator's parameters; they must depend on arguments alone.
using MakeArrays =
    std::function<std::vector<Array>(const Operator& op, const Segments& segments, std::uint64_t seed)>;

/// Arrays of uniform values, places for columns that index tables, tables.
[[nodiscard]] std::vector<Array> uniform_arrays(const Operator& op, const Segments& segments,
                                                std::uint64_t seed);

/// The same, where scalars are given as text, by name.
[[nodiscard]] MakeArrays uniform_arrays_beside(std::map<std::string, std::string> scalars);

}  // namespace segfold::regress
