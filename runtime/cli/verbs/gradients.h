#pragma once
// Gradients on the command line: their text, their table, and their check.
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kGradientFlag = {"gradient", "PARAMETER"};

/// Implements `operators OP --gradient PARAMETER`: prints the operators of the gradient.
void print_gradient(const Arguments& arguments);

/// Implements `operators --gradients`: prints how the gradient of each standard operator is computed, or why
/// it has none.
void print_gradient_table(const Arguments& arguments);

/// Implements `check OP --gradient PARAMETER`: compares the gradient with finite differences. Returns the
/// exit code.
int check_gradient(const Arguments& arguments);

}  // namespace segfold::cli
