#pragma once
// Prints floating-point literals and constants.
#include <string>

#include "dsl/expression.h"

namespace segfold {

/// The shortest literals that read back as the value: "1.0f" and "1.0".
std::string real_literal(float value);
std::string real_literal(double value);

/// Value of a literal of a floating-point type.
double literal_value(const ExpressionNode& node);

/// Name of a constant, "kLowestI32", "kInfinity", ... Constants of f16 and bf16 are floats.
std::string constant_of(const ExpressionNode& node);

}  // namespace segfold
