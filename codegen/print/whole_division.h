#pragma once
// Divisions of whole numbers in f32, which need no slow path.
#include "dsl/expression.h"

namespace segfold {

/// True for a division of two whole numbers in f32, the divisor a converted integer. A short function gives
/// the same quotient as `/`: it is neither denormal nor infinite, unless the divisor is 0.
bool is_whole_division(const ExpressionNode& node);

}  // namespace segfold
