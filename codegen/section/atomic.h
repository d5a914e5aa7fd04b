#pragma once
// Finds operators whose combine() CUDA can compute with an atomic function or a warp reduction.
#include <optional>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns CUDA's atomic function that computes combine(), such as "atomicAdd"; none if there is no such
/// function.
///
/// The state must be one field with an identity. combine() must be a sum, a minimum, a maximum or a bitwise
/// operation of both operands. The type must be an integer of 32 or 64 bits, or, for sums, f32 or f64. In
/// global memory, atomicAdd() of f32 flushes subnormal numbers to zero.
std::optional<std::string> atomic_function(const Operator& op);

/// Returns the text of `atomic_combine(total, state)`, which combines `state` into `*total` atomically.
/// Requires atomic_function().
std::string atomic_combine_text(const Operator& op);

/// Returns CUDA's warp reduction that computes combine(), such as "__reduce_add_sync"; none if there is no
/// such function.
///
/// The operator must satisfy the conditions of atomic_function(), and its type must be an integer of 32 bits.
/// GPUs before compute capability 8.0 have no such reductions.
std::optional<std::string> warp_function(const Operator& op);

/// Returns the text of `redux(state)`, which reduces the states of a warp's lanes and gives every lane the
/// total. Requires warp_function().
std::string redux_text(const Operator& op);

}  // namespace segfold
