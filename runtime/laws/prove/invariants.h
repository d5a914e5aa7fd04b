#pragma once
// Invariants of reachable states, by Houdini's method (Flanagan and Leino 2001).
#include <string>
#include <vector>

#include "dsl/smt/questions.h"
#include "runtime/laws/prove/questioner.h"

namespace segfold::prove {

/// Invariants found of the states that elements reach.
struct Invariants {
    std::vector<smt::Candidate> list;
    std::string reason;  ///< why the list is empty although candidates were left: time, or out of reach
};

/// Starts with the candidates that drawn states obey and drops what lift, identity or combine break, until
/// none is broken. If the time ends first, nothing is proved and the list is empty.
Invariants find_invariants(const Operator& op, const Bytecode& bytecode, const smt::ScriptOptions& options,
                           Questioner& questioner, double seconds);

}  // namespace segfold::prove
