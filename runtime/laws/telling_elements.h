#pragma once
// Elements of a fold that say most of a law, so that few have to be tried.
#include <cstdint>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// What a pass over the arrays finds.
struct TellingElements {
    std::vector<std::int64_t>
        numbers;             ///< of elements where a column is lowest or highest; NaN lie at the ends
    bool are_finite = true;  ///< false where a column or a table has infinities or NaN
};

/// Looks at arrays that are the operator's, one for each parameter; all threads work. A number is that of an
/// element and feature.
[[nodiscard]] TellingElements telling_elements(const Operator& op, const std::vector<Array>& arrays,
                                               std::int64_t num_features);

}  // namespace segfold
