#pragma once
// Decides whether an operator may use a faster, less precise exponential.
#include "dsl/operator.h"

namespace segfold {

/// True if all results and outputs of the operator are f16 or bf16. An exponential with five correct digits
/// is then precise enough. It takes two instructions, while an exponential with seven digits takes eight.
bool rounds_to_halves(const Operator& op);

}  // namespace segfold
