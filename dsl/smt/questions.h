#pragma once
// Questions to a prover about an operator's laws, as texts in SMT-LIB 2.
//
// A question is satisfiable if and only if something breaks. So the answer "unsat" is a proof.
#include <span>

#include "dsl/laws/judge.h"
#include "dsl/smt/candidates.h"
#include "dsl/smt/script.h"

namespace segfold::smt {

/// The purpose of a question about equations between states a, b, c that satisfy the invariants.
enum class Asked : std::uint8_t {
    breaks,     ///< can an equation break while nothing overflows? "unsat" proves all equations
    possible,   ///< can any state meet the assumptions? "unsat" means that the proof says nothing
    overflows,  ///< can ordinary states overflow? if so, the proof omits some ordinary states
};

/// Returns a question of purpose `asked` about some equations. Asserts the invariants for every state under
/// the names inv.0, inv.1, ..., so that an unsatisfiable core tells which invariants the proof needs.
///
/// Empty if the question is about overflow and no operation can overflow. An ordinary state is the identity
/// or has small integers. In laws that combine a state with the identity or an element, these are at most
/// 2^(width - 3). In other laws they are at most 2^(width / 2 - 1), so that products fit.
std::string law_question(const Bytecode& bytecode, std::span<const Equation> equations,
                         const ScriptOptions& options, Candidates* invariants = nullptr,
                         Asked asked = Asked::breaks);

/// A question about states made of unknown elements.
struct ElementQuestion {
    std::string text;
    std::array<std::vector<UnknownElement>, 3> elements;  ///< unknown elements of the states a, b and c
};

/// Returns the question whether elements break the equation. `counts` holds the number of elements of each
/// state. The first element has the index and position of `place`.
ElementQuestion element_question(const Bytecode& bytecode, Equation equation, const ScriptOptions& options,
                                 std::array<std::size_t, 3> counts, const ElementPlace& place);

/// Returns the script for Houdini's method, which finds invariants by dropping refuted candidates. The script
/// declares states. For each state, it defines candidate number I as a term: `earlier.I` and `later.I` for
/// the operands, `lifted.I` and `combined.I` for states made by lift and combine.
std::string invariant_script(const Bytecode& bytecode, Candidates& candidates, const ScriptOptions& options);

}  // namespace segfold::smt
