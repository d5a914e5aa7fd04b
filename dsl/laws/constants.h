#pragma once
// Values that the text of an operator suggests for trials. A comparison with 100 calls for elements 99 to
// 101.
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// Returns the constants of combine, lift, append and identity as values of `type`, then their neighbours,
/// their negatives, and sums and differences of two. Each value occurs once, and there are few. Values that
/// the type cannot hold are omitted.
std::vector<Slot<double>> constant_values(const Bytecode& bytecode, Type type);

}  // namespace segfold
