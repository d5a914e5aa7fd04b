#pragma once
// Invariants of reachable states, by Houdini's method (Flanagan and Leino 2001).
#include <string>
#include <vector>

#include "dsl/smt/questions.h"
#include "runtime/laws/prove/questioner.h"

namespace segfold::prove {

/// Conditions found to hold in every state that elements can reach.
struct Invariants {
    std::vector<smt::Candidate> list;
    std::string reason;  ///< why the list is empty although candidates remained: no time, or out of reach
};

/// Finds invariants. It starts with candidates that hold in drawn states and drops each that lift, identity
/// or combine breaks, until none is broken. If time runs out first, the rest are no invariants, and the list
/// is empty.
Invariants find_invariants(const Operator& op, const Bytecode& bytecode, const smt::ScriptOptions& options,
                           Questioner& questioner, double seconds);

}  // namespace segfold::prove
