#pragma once
// Compares gradients on a few random elements.
#include <cstdint>

#include "dsl/derived.h"
#include "dsl/evaluation/small_fold.h"

namespace segfold {

/// A few segments of random elements, and all other arrays that an operator and its gradients take.
struct GradientCase {
    std::vector<std::int64_t> offsets;
    ArraysByName arrays;
};

/// Makes a case from a random seed.
///
/// Floats lie between -2 and 2, or between 0.25 and 2 if `is_positive`, in steps of at most 2^-20. Integers
/// lie between 0 and 3. Some numbers lie beside a constant in the operator's text instead, and some floats
/// are NaN if the text calls isnan. A segment has 1 to 6 elements. Half of the segments may be longer, to
/// reach positions that constants name. A table has as many entries as there are elements, but at least 8.
[[nodiscard]] GradientCase gradient_case(const Operator& op, const Gradient& gradient, std::uint64_t seed,
                                         bool is_positive, int num_segments);

/// True if two gradients of an operator agree at random points. All floats of the operator must be f64.
[[nodiscard]] bool gradients_agree(const Operator& op, const Gradient& left, const Gradient& right);

}  // namespace segfold
