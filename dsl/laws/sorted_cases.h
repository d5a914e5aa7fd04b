#pragma once
// Finds laws that hold only for sorted elements, such as readings in order of time.
#include "dsl/laws/judge.h"

namespace segfold {

/// Looks for a column such that cases sorted by it never break the refuted `equation`. Draws cases of small
/// numbers. At least 64 of these must break the equation while unsorted. Stores the column and the number of
/// broken cases in `finding`.
void find_sorting_column(const Operator& op, Equation equation, LawMachine& machine, LawJudge& judge,
                         const LawOptions& options, LawFinding& finding);

}  // namespace segfold
