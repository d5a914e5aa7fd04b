#pragma once
// Tries gradients on a few elements by lot.
#include <cstdint>

#include "dsl/evaluation/small_fold.h"
#include "dsl/rewrite/gradient/gradient.h"

namespace segfold {

/// A few segments of elements by lot, and all other arrays that an operator and its gradients take.
struct GradientCase {
    std::vector<std::int64_t> offsets;
    ArraysByName arrays;
};

/// Makes a case. Floats lie between -2 and 2, or between 0.25 and 2 if `is_positive`, in steps of 2^-20 at
/// most; integers between 0 and 3. Some of both lie beside a constant of the operator's text instead, and
/// some floats are NaN if the text asks for it. A segment has 1 to 6 elements, every second one up to as many
/// as the constants name positions; a table has as many entries as there are elements, and 8 or more.
[[nodiscard]] GradientCase gradient_case(const Operator& op, const Gradient& gradient, std::uint64_t seed,
                                         bool is_positive, int num_segments);

/// True if two gradients of an operator whose floats are all f64 agree at points by lot.
[[nodiscard]] bool gradients_agree(const Operator& op, const Gradient& left, const Gradient& right);

}  // namespace segfold
