#pragma once
// Finds divisions of whole numbers in f32. They need no code for denormal quotients.
#include "dsl/expression.h"

namespace segfold {

/// True for a division of two whole numbers in f32 whose divisor is a converted integer. Its quotient is
/// never denormal, and infinite only if the divisor is 0, so a short function gives the same quotient as `/`.
bool is_whole_division(const ExpressionNode& node);

}  // namespace segfold
