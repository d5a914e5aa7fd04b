#pragma once
// The questions that a prover is asked about an operator's laws, as texts in SMT-LIB 2.
//
// Every question is satisfiable exactly where something breaks: "unsat" is a proof.
#include <span>

#include "dsl/laws/judge.h"
#include "dsl/smt/candidates.h"
#include "dsl/smt/script.h"

namespace segfold::smt {

/// Whether some of the equations breaks for states a, b, c. With invariants, these are asserted of every
/// state, named inv.0, inv.1, ..., so that an unsatisfiable core tells which were needed. `negated` false
/// leaves the law out: what remains must be satisfiable, or the question says nothing.
std::string law_question(const Bytecode& bytecode, std::span<const Equation> equations,
                         const ScriptOptions& options, Candidates* invariants = nullptr, bool negated = true);

/// A question about states made of elements.
struct ElementQuestion {
    std::string text;
    std::array<std::vector<UnknownElement>, 3> elements;  ///< of a, b, c
};

/// Whether elements break the equation, so many of each state; a case of LawMachine's first place.
ElementQuestion element_question(const Bytecode& bytecode, Equation equation, const ScriptOptions& options,
                                 std::array<std::size_t, 3> counts, const ElementPlace& place);

/// The scripts of Houdini's method. `head` declares states with all candidates as terms on them; the
/// candidates of lifted, combined and identity states are `lifted.I`, `combined.I`, `identity.I`, those of
/// the operands `earlier.I` and `later.I`.
std::string invariant_script(const Bytecode& bytecode, Candidates& candidates, const ScriptOptions& options);

}  // namespace segfold::smt
