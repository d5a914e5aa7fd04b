#pragma once
// Selects the elements of a fold on which a law is most likely to fail, so that few need to be tried.
#include <cstdint>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// The elements on which a law is most likely to fail.
struct TellingElements {
    /// Indices of the elements with the lowest and highest value of each column. NaN may count as lower or
    /// higher than all numbers.
    std::vector<std::int64_t> numbers;
    bool are_finite = true;  ///< false if a column or table has infinities or NaN
};

/// Searches the operator's arrays, one per parameter, with all threads. The index of feature `f` of element
/// `e` is e * num_features + f.
[[nodiscard]] TellingElements telling_elements(const Operator& op, const std::vector<Array>& arrays,
                                               std::int64_t num_features);

}  // namespace segfold
