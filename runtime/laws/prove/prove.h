#pragma once
// Judges an operator's laws with Z3, after a search has found no counter-example.
#include <filesystem>

#include "dsl/laws/laws.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// Limits and settings of a proof.
struct ProofOptions {
    double seconds = 3;      ///< processor time for all laws together
    bool invariants = true;  ///< true: a law must hold only in states that elements can reach; false: in all
    const ScalarValues* scalars = nullptr;  ///< values for which the laws are judged; null for all values
    std::filesystem::path smt_lib = {};     ///< folder for the questions' texts; empty if they are not kept
};

/// Asks Z3 about the laws that the search did not refute, and adds its verdicts to the report.
///
/// Questions treat integers as machine words, then as unbounded integers, and floats bit for bit if combine
/// rounds nothing, else as real numbers. Invariants exclude states that no element reaches. A counter-example
/// of Z3 counts only if the evaluator confirms it; it is then shrunk. If Z3 is missing, too slow or gives no
/// answer, the search's verdict stays and `unproved` says why. Commutativity that is proved bit for bit but
/// not declared goes to `undeclared`.
void prove_laws(const Operator& op, LawReport& report, Solver& solver, const ProofOptions& options = {});

}  // namespace segfold::prove
