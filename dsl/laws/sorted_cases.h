#pragma once
// Finds laws that hold only for sorted elements, such as readings in order of time.
#include "dsl/laws/judge.h"

namespace segfold {

/// Looks for a column by which cases can be sorted so that they never break the refuted `equation`. Draws
/// cases of small numbers; at least 64 of them must break the equation before they are sorted. Stores the
/// column and the number of these broken cases in `finding`.
void find_sorting_column(const Operator& op, Equation equation, LawMachine& machine, LawJudge& judge,
                         const LawOptions& options, LawFinding& finding);

}  // namespace segfold
