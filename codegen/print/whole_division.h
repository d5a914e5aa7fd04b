#pragma once
// Finds divisions of whole numbers in f32, which need no slow path.
#include "dsl/expression.h"

namespace segfold {

/// True for a division of two whole numbers in f32 whose divisor is a converted integer. A short function
/// then gives the same quotient as `/`, because the quotient is neither denormal nor, unless the divisor is
/// 0, infinite.
bool is_whole_division(const ExpressionNode& node);

}  // namespace segfold
