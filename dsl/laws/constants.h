#pragma once
// Values for trials, made from the constants in the operator's text. A comparison with 100 calls for elements
// 99 to 101.
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// Returns a few distinct values: the constants of combine, lift, append and identity as values of `type`,
/// their neighbours, their negatives, and sums and differences of two. Leaves out values that the type cannot
/// hold.
std::vector<Slot<double>> constant_values(const Bytecode& bytecode, Type type);

}  // namespace segfold
