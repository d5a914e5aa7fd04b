#pragma once
// Names and types: every complaint about an operator that its text alone can tell.
#include "dsl/operator.h"

namespace segfold {

/// Returns `op` with every name resolved, every literal and expression typed, and every block's assignments
/// in the order of the fields they set. Checking a checked operator changes nothing.
///
/// Throws SpecError, with place and caret where the operator came from text.
Operator check(Operator op);

}  // namespace segfold
