#pragma once
// Prints operators and expressions as text.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// The text form of an operator; parse_operator(print(op)) is `op` again.
std::string print(const Operator& op);

/// Prints an expression with the fewest parentheses, except in `-(-x)`.
///
/// `op` gives the names of combine's operands; without `op`, the operands print as "a" and "b".
std::string print(const Expression& expression, const Operator* op = nullptr);

/// The text behind `->`: "f32", "(mean: f32, each y: f32)".
std::string results_text(const Operator& op);

/// The shortest text that every type reads back as `value`, with a point or an exponent: "0.5", "1.0",
/// "1e+30". `rest` is the side of `value` on which the exact number lies, as in NearReal.
std::string print_real(double value, int rest = 0);

}  // namespace segfold
