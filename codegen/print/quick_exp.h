#pragma once
// Decides whether an operator may use a faster, less precise exponential.
#include "dsl/operator.h"

namespace segfold {

/// True if the operator gives its caller only numbers of f16 and bf16. An exponential with five correct
/// digits is then precise enough. It takes two instructions; an exponential with seven digits takes eight.
bool rounds_to_halves(const Operator& op);

}  // namespace segfold
