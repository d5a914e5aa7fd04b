#pragma once
// Operators whose combine() equals one of CUDA's atomic functions or warp reductions.
#include <optional>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// The atomic function that equals combine(), such as "atomicAdd"; nothing without one.
///
/// The state has to be one field with an identity, combine() a sum, a minimum, a maximum or a bitwise
/// operation of both operands, and the type one that the function takes: integers of 32 and 64 bits, and for
/// sums f32 and f64. In global memory atomicAdd() of f32 takes subnormal numbers for zero.
std::optional<std::string> atomic_function(const Operator& op);

/// The text of `atomic_combine(total, state)`, which combines `state` with `*total` atomically. The operator
/// must have an atomic_function().
std::string atomic_combine_text(const Operator& op);

/// The warp reduction that equals combine(), such as "__reduce_add_sync"; nothing without one.
///
/// As atomic_function(), for integers of 32 bits. GPUs before compute capability 8.0 have none of them.
std::optional<std::string> warp_function(const Operator& op);

/// The text of `redux(state)`, which reduces the states of a warp's lanes and returns the total in all of
/// them. The operator must have a warp_function().
std::string redux_text(const Operator& op);

}  // namespace segfold
