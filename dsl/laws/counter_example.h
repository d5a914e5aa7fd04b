#pragma once
// Makes a readable counter-example of a case that breaks a law.
#include "dsl/laws/judge.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Returns the states of `recipes`, both sides of `equation` in working precision, and the text for readers.
CounterExample make_counter_example(const Operator& op, Equation equation, const LawCase& recipes,
                                    LawMachine& machine, LawJudge& judge);

}  // namespace segfold
