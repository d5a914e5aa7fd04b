#pragma once
// Floating-point literals and constants in emitted text.
#include <string>

#include "dsl/expression.h"

namespace segfold {

/// The shortest literals that read back: "1.0f" and "1.0".
std::string real_literal(float value);
std::string real_literal(double value);

/// The value of a literal of a floating-point type.
double literal_value(const ExpressionNode& node);

/// "kLowestI32", "kInfinity", ...; for f16 and bf16 they are floats.
std::string constant_of(const ExpressionNode& node);

}  // namespace segfold
