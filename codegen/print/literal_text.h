#pragma once
// Prints floating-point literals and constants.
#include <string>

#include "dsl/expression.h"

namespace segfold {

/// Returns the shortest literal that a compiler reads as the same value, such as "1.0f" for a float and "1.0"
/// for a double.
std::string real_literal(float value);
std::string real_literal(double value);

/// Returns the value of a floating-point literal, rounded to the literal's type.
double literal_value(const ExpressionNode& node);

/// Returns the emitted name of a constant, such as "kLowestI32" or "kInfinity". Constants of f16 and bf16 are
/// floats.
std::string constant_of(const ExpressionNode& node);

}  // namespace segfold
