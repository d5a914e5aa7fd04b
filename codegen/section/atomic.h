#pragma once
// Finds operators whose combine() is one of CUDA's atomic functions or warp reductions.
#include <optional>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// The atomic function that equals combine(), such as "atomicAdd"; none if there is no such function.
///
/// The state must be one field with an identity. combine() must be a sum, a minimum, a maximum or a bitwise
/// operation of both operands. The type must suit the function: integers of 32 and 64 bits, and for sums also
/// f32 and f64. In global memory, atomicAdd() of f32 flushes subnormal numbers to zero.
std::optional<std::string> atomic_function(const Operator& op);

/// The text of `atomic_combine(total, state)`, which combines `state` into `*total` atomically. Requires
/// atomic_function().
std::string atomic_combine_text(const Operator& op);

/// The warp reduction that equals combine(), such as "__reduce_add_sync"; none if there is no such function.
///
/// The conditions are those of atomic_function(), for integers of 32 bits. GPUs before compute capability 8.0
/// have no such reductions.
std::optional<std::string> warp_function(const Operator& op);

/// The text of `redux(state)`, which reduces the states of a warp's lanes and returns the total in every
/// lane. Requires warp_function().
std::string redux_text(const Operator& op);

}  // namespace segfold
