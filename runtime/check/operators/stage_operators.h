#pragma once
// The default operators for checking a stage.
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// Returns operators that reveal typical mistakes of a stage. All are exact. Operators that the stage serves
/// in no form are left out.
///
/// They test the order of operands, states with several fields, places of elements, tables, a missing
/// identity, a commutative combine, an append, rows, and outputs.
[[nodiscard]] std::vector<Operator> stage_operators(const Stage& stage, const Catalogue& catalogue,
                                                    const Target& target);

}  // namespace segfold::regress
