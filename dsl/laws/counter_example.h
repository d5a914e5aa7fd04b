#pragma once
// Makes readable counter-examples from cases that break a law.
#include "dsl/laws/judge.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Returns a counter-example: the states that `recipes` make, both sides of `equation` in working precision,
/// and a text for readers.
CounterExample make_counter_example(const Operator& op, Equation equation, const LawCase& recipes,
                                    LawMachine& machine, LawJudge& judge);

}  // namespace segfold
