#pragma once
// Prints and checks the gradients of operators.
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kGradientFlag = {"gradient", "PARAMETER"};

/// Implements `operators OP --gradient PARAMETER`: prints the operators that compute the gradient.
void print_gradient(const Arguments& arguments);

/// Implements `operators --gradients`. Prints, for each standard operator, how its gradient is computed or
/// why it has none.
void print_gradient_table(const Arguments& arguments);

/// Implements `check OP --gradient PARAMETER`: compares the gradient with finite differences. Returns the
/// exit code.
int check_gradient(const Arguments& arguments);

}  // namespace segfold::cli
