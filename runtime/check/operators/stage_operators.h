#pragma once
// Operators with which a stage is checked by default.
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// Returns operators that reveal typical mistakes of a stage. All are exact. Operators that the stage serves
/// in no form are left out.
///
/// Together they test the operand order, states with several fields, element indices, tables, a missing
/// identity, a commutative combine, an append, rows, and outputs.
[[nodiscard]] std::vector<Operator> stage_operators(const Stage& stage, const Catalogue& catalogue,
                                                    const Target& target);

}  // namespace segfold::regress
