#pragma once
// An operator over 8-bit integers: small enough that all of its states can be tried.
#include <optional>

#include "dsl/operator.h"

namespace segfold {

/// `op` with every integer type narrowed to i8 or u8, and without finish, empty and results of its own;
/// nothing where that is not an operator, e.g. because a literal does not fit.
std::optional<Operator> narrow_to_8_bits(const Operator& op);

}  // namespace segfold
