#pragma once
// Decides whether a faster, less precise exponential serves.
#include "dsl/operator.h"

namespace segfold {

/// True if everything that an operator returns is rounded to f16 or bf16. An exponential of five digits or
/// more then serves as well as one of seven, and takes two instructions instead of eight.
bool rounds_to_halves(const Operator& op);

}  // namespace segfold
