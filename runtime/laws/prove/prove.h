#pragma once
// Judges an operator's laws with Z3, after a search has found no counter-example.
#include <filesystem>

#include "dsl/laws/laws.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// How long to try, and by which means.
struct ProofOptions {
    double seconds = 3;      ///< for all laws together, of the processor
    bool invariants = true;  ///< false: laws must hold for every state that fits the fields' types
    const ScalarValues* scalars = nullptr;  ///< scalars that the laws are judged for, if known
    std::filesystem::path smt_lib = {};     ///< a folder for the questions; empty: they are not kept
};

/// Adds Z3's verdicts on the laws that the search did not refute to its report.
///
/// Each law is asked of integers as words and of floats bit for bit, where combine rounds nothing; of
/// unbounded integers; of real numbers, where it rounds. A state that no element reaches is excluded by
/// invariants. A counter-example of Z3 counts if the evaluator confirms it, and is shrunk. If Z3 gives no
/// answer, none in time, or is not there, the search's verdict stays and `unproved` says why. Commutativity
/// that is not declared, and is proved bit for bit, is added to `undeclared`.
void prove_laws(const Operator& op, LawReport& report, Solver& solver, const ProofOptions& options = {});

}  // namespace segfold::prove
