#pragma once
// Values that an operator's own text suggests: where it compares with 100, elements of 99 to 101 tell most.
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// The constants of identity, lift and combine as values of `type`, then the neighbours of each, its
/// negative, and sums and differences of two; each once, few at most. Values that the type cannot hold are
/// left out.
std::vector<Slot<double>> constant_values(const Bytecode& bytecode, Type type);

}  // namespace segfold
