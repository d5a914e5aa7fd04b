#pragma once
// Values for trials of laws, made from constants in the operator's text. If the text compares with 100, 99 to
// 101 are tried.
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// Returns a few distinct values: the constants of combine, lift, append and identity as values of `type`,
/// their neighbours, their negatives, and sums and differences of two. Leaves out values that the type cannot
/// hold.
std::vector<Slot<double>> constant_values(const Bytecode& bytecode, Type type);

}  // namespace segfold
