#pragma once
// Judges an operator's laws with Z3 after a search has found no counter-example.
#include <filesystem>

#include "dsl/laws/laws.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// Limits and settings of a proof.
struct ProofOptions {
    double seconds = 3;  ///< processor time for all laws together
    /// If true, laws must hold in all states that elements can produce. If false, they must hold in all
    /// states.
    bool invariants = true;
    const ScalarValues* scalars = nullptr;  ///< scalar values for which the laws are judged; null: all values
    /// Folder to which questions are written. Empty if they are not written.
    std::filesystem::path smt_lib = {};
};

/// Asks Z3 about the laws that the search did not refute, and adds its verdicts to the report.
///
/// Integers are treated as machine words, then as unbounded integers. Floats are treated as bit patterns if
/// combine never rounds, otherwise as real numbers. Invariants exclude states that no elements produce. A
/// counter-example of Z3 counts only if the evaluator confirms it, and is then shrunk. If Z3 is missing, too
/// slow or gives up, the verdict of the search stays, and `unproved` gets the reason. Commutativity that is
/// proved bit for bit but not declared is stored in `undeclared`.
void prove_laws(const Operator& op, LawReport& report, Solver& solver, const ProofOptions& options = {});

}  // namespace segfold::prove
