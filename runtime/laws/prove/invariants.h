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
    /// If the list is empty although there were candidates, the reason: no time, or too hard questions.
    std::string reason;
};

/// Finds invariants. Starts with candidates that hold in drawn states. Drops each candidate that lift,
/// identity or combine breaks, until none breaks any more. If time runs out earlier, the list is empty.
Invariants find_invariants(const Operator& op, const Bytecode& bytecode, const smt::ScriptOptions& options,
                           Questioner& questioner, double seconds);

}  // namespace segfold::prove
