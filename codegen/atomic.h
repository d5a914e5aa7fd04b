#pragma once
// Operators whose combine() is one of CUDA's atomic functions.
#include <optional>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// The atomic function that does what combine() does, "atomicAdd"; nothing where there is none.
///
/// The state has to be one field with an identity, combine() a sum, a minimum, a maximum or a bitwise
/// operation of both operands, and the type one that the function takes: integers of 32 and 64 bits, and for
/// sums f32 and f64.
std::optional<std::string> atomic_function(const Operator& op);

/// `atomic_combine(total, state)`, which puts a state behind what others have put to `total`. The operator
/// must have an atomic_function().
std::string atomic_combine_text(const Operator& op);

}  // namespace segfold
