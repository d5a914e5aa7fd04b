#pragma once
// Laws that hold for sorted elements alone, as those of an operator on readings by time do.
#include "dsl/laws/judge.h"

namespace segfold {

/// Looks for a column by which elements may be sorted so that no case breaks `equation`, which is refuted: of
/// cases of small numbers, at least 64 of which break it as drawn. Where there is one, `finding` says so, and
/// counts those.
void find_sorting_column(const Operator& op, Equation equation, LawMachine& machine, LawJudge& judge,
                         const LawOptions& options, LawFinding& finding);

}  // namespace segfold
