#pragma once
// Finds invariants of reachable states by Houdini's method (Flanagan and Leino 2001).
#include <string>
#include <vector>

#include "dsl/smt/questions.h"
#include "runtime/laws/prove/questioner.h"

namespace segfold::prove {

/// Conditions that are proved to hold in every state that elements can produce.
struct Invariants {
    std::vector<smt::Candidate> list;
    /// If no candidate was kept, the reason: too little time or too hard questions.
    std::string reason;
};

/// Finds invariants. Starts with candidates that hold in drawn states, and drops each candidate that lift,
/// identity or combine violates until none is violated. The list is empty if time runs out first.
Invariants find_invariants(const Operator& op, const Bytecode& bytecode, const smt::ScriptOptions& options,
                           Questioner& questioner, double seconds);

}  // namespace segfold::prove
