#pragma once
// Finds f32 divisions of whole numbers, whose quotients are never denormal.
#include "dsl/expression.h"

namespace segfold {

/// True for a division of two whole numbers in f32 by a converted integer. The quotient is never denormal,
/// and is infinite only if the divisor is 0. So a short function gives the same quotient as `/`.
bool is_whole_division(const ExpressionNode& node);

}  // namespace segfold
