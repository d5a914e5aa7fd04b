#pragma once
// From recipes that break a law to the counter-example that a reader gets.
#include "dsl/laws/judge.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// The states of `recipes`, both sides of `equation` in working precision, and the text.
CounterExample make_counter_example(const Operator& op, Equation equation, const LawCase& recipes,
                                    LawMachine& machine, LawJudge& judge);

}  // namespace segfold
