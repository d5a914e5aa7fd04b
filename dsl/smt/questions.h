#pragma once
// The questions that a prover is asked about an operator's laws, as texts in SMT-LIB 2.
//
// Every question is satisfiable exactly where something breaks: "unsat" is a proof.
#include <span>

#include "dsl/laws/judge.h"
#include "dsl/smt/candidates.h"
#include "dsl/smt/script.h"

namespace segfold::smt {

/// The kind of a question about equations for states a, b, c that keep its invariants.
enum class Asked : std::uint8_t {
    breaks,     ///< whether one of the equations breaks while nothing overflows: "unsat" proves them
    possible,   ///< whether anything is left of these assumptions: after "unsat" that proof is one of nothing
    overflows,  ///< of ordinary states, whether something overflows all the same: then the proof leaves out
                ///< more than what is large
};

/// Whether some of the equations breaks, or what its assumptions are worth. With invariants, these are
/// asserted of every state, named inv.0, inv.1, ..., so that an unsatisfiable core tells which were needed.
///
/// Empty where it asks whether something overflows and nothing can. An ordinary state is the identity, or has
/// integers far from the ends of their types: by an eighth of their number in laws that combine a state with
/// the identity or an element, and of half their digits in the others, so that products fit.
std::string law_question(const Bytecode& bytecode, std::span<const Equation> equations,
                         const ScriptOptions& options, Candidates* invariants = nullptr,
                         Asked asked = Asked::breaks);

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
