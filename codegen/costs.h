#pragma once
// What an operator's combine() costs, as far as texts and choices depend on it.
#include "dsl/operator.h"

namespace segfold {

/// True if copies of combine() cost more compile time than a loop costs run time.
bool is_costly(const Operator& op);

/// Whether combine calls a function of the C library. Loops over lanes call it for one lane after the other.
bool combine_calls_library(const Operator& op);

}  // namespace segfold
