#pragma once
// Values for trials of laws, derived from constants in the operator's text. If the text compares with 100,
// the values 99 to 101 are tried.
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// Returns a few distinct values of `type`: the constants of combine, lift, append and identity, their
/// neighbours, their negatives, and sums and differences of two of them. Leaves out values that the type
/// cannot hold.
std::vector<Slot<double>> constant_values(const Bytecode& bytecode, Type type);

}  // namespace segfold
