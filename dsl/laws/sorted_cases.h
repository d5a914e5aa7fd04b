#pragma once
// Finds laws that hold only for sorted elements, as for operators on readings in order of time.
#include "dsl/laws/judge.h"

namespace segfold {

/// Looks for a column such that cases sorted by it never break the refuted `equation`. Draws cases of small
/// numbers, and needs at least 64 that break it unsorted. Stores the column and the number of broken cases in
/// `finding`.
void find_sorting_column(const Operator& op, Equation equation, LawMachine& machine, LawJudge& judge,
                         const LawOptions& options, LawFinding& finding);

}  // namespace segfold
