#pragma once
// Prints operators and expressions as text.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns the text form of an operator. parse_operator(print(op)) equals `op`.
std::string print(const Operator& op);

/// Prints an expression with the fewest parentheses, except in `-(-x)`.
///
/// `op` gives the names of combine's operands; without `op`, the operands print as "a" and "b".
std::string print(const Expression& expression, const Operator* op = nullptr);

/// Returns the text after `->`: "f32", "(mean: f32, each y: f32)".
std::string results_text(const Operator& op);

/// Returns the shortest text that reads back as `value` in every type. It has a point or an exponent: "0.5",
/// "1.0", "1e+30". `rest` is the side of `value` on which the exact number lies, as in NearReal.
std::string print_real(double value, int rest = 0);

}  // namespace segfold
