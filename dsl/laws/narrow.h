#pragma once
// Narrows an operator to 8-bit integers, so that all of its states can be tried.
#include <optional>

#include "dsl/operator.h"

namespace segfold {

/// Returns `op` with every integer type narrowed to i8 or u8, and without finish, empty and results. None if
/// that is no valid operator, for example because a literal does not fit.
std::optional<Operator> narrow_to_8_bits(const Operator& op);

}  // namespace segfold
