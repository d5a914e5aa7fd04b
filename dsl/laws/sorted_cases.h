#pragma once
// Finds laws that hold for sorted elements alone, such as those of operators on readings in order of time.
#include "dsl/laws/judge.h"

namespace segfold {

/// Looks for a column such that cases sorted by it never break the refuted `equation`. Draws cases of small
/// numbers, of which at least 64 must break it unsorted. Stores the column and the number of broken cases in
/// `finding`.
void find_sorting_column(const Operator& op, Equation equation, LawMachine& machine, LawJudge& judge,
                         const LawOptions& options, LawFinding& finding);

}  // namespace segfold
