#pragma once
// The operators that a stage is checked with where nobody names one.
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// Operators that show what a stage may get wrong, each exact: the order of operands, states of several
/// fields, the places of elements, tables, a missing identity, a combine that commutes, an append, and over
/// rows and with outputs the like. Those of them that the stage can serve in some form of segments.
[[nodiscard]] std::vector<Operator> stage_operators(const Stage& stage, const Catalogue& catalogue,
                                                    const Target& target);

}  // namespace segfold::regress
