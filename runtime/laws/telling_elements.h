#pragma once
// Picks the elements of a fold that reveal most about a law, so that only few must be tried.
#include <cstdint>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// Elements that reveal most about a law.
struct TellingElements {
    /// Indices of the elements with the lowest and highest value of each column. NaN may count as lower or
    /// higher than all numbers.
    std::vector<std::int64_t> numbers;
    bool are_finite = true;  ///< false if a column or table has infinities or NaN
};

/// Finds the elements in the operator's arrays, one per parameter, with all threads. Element `e` with feature
/// `f` has the index e * num_features + f.
[[nodiscard]] TellingElements telling_elements(const Operator& op, const std::vector<Array>& arrays,
                                               std::int64_t num_features);

}  // namespace segfold
