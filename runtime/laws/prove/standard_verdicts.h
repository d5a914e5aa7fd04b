#pragma once
// The table of verdicts on the laws of the standard operators, dsl/standard/verdicts.jsonl, which comes with
// the program. The file verdicts_newest.jsonl holds the verdicts of a newer Z3 that differ.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/text/standard_operators.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// Processor time that Z3 gets for all laws of an operator of one type when the table is made.
inline constexpr double kSecondsForTable = 10;

/// The verdict on one law of a standard operator, for all types that share it.
struct StandardVerdict {
    std::string op;  ///< name of the operator
    Law law = Law::associative;
    bool is_claimed = true;   ///< false for commutativity that is proved but not declared
    std::vector<Type> types;  ///< the types of T with this verdict, in the order of kTypes
    Verdict verdict = Verdict::not_refuted;
    bool eight_bit = false;  ///< covers all states of the 8-bit version, not of the operator itself
    std::string invariants;  ///< invariants that the proof uses
    std::string unproved;    ///< why there is no proof
    std::string text;        ///< standard_digest() of the operator when the law was judged
    std::string prover;      ///< "Z3 4.8.12"
};

/// Returns the types for which the table has verdicts: i32, u32, f32 and f64 if `op` accepts them.
[[nodiscard]] std::vector<Type> judged_types(const StandardOperator& op);

/// Returns the first 12 hexadecimal digits of the SHA-256 of the operator's texts in all its types.
[[nodiscard]] std::string standard_digest(const StandardOperator& op);

/// Judges the laws of `op` in each of `types`: first by a search of the same cases on every machine, then by
/// Z3. Throws InputError if Z3 is not available.
[[nodiscard]] std::vector<StandardVerdict> judge_standard(const StandardOperator& op,
                                                          const std::vector<Type>& types, Solver& solver,
                                                          double seconds = kSecondsForTable);

/// Returns the verdict as a line of the table, without a newline.
[[nodiscard]] std::string print(const StandardVerdict& verdict);

/// Reads the verdicts in `text`, the lines of table `file`. Throws InputError for a line that cannot be read.
[[nodiscard]] std::vector<StandardVerdict> parse_standard_verdicts(std::string_view text,
                                                                   std::string_view file = "verdicts.jsonl");

/// Returns the table that comes with the program, ordered by operator and law.
[[nodiscard]] std::vector<StandardVerdict> standard_verdicts();

/// Returns the verdicts of a newer Z3 that differ from standard_verdicts().
[[nodiscard]] std::vector<StandardVerdict> newest_verdicts();

/// Returns the verdicts in `found` that differ from `kept`. Ignores types for which `kept` has no verdict.
[[nodiscard]] std::vector<StandardVerdict> differing(const std::vector<StandardVerdict>& kept,
                                                     std::vector<StandardVerdict> found);

/// Compares the table `kept` with the list `operators`. Returns a sentence for each fault: a missing or
/// unknown operator, law or type, an operator changed since, a verdict `refuted`. Empty if there is no fault.
[[nodiscard]] std::vector<std::string> faults_of_table(const std::vector<StandardVerdict>& kept,
                                                       const std::vector<StandardOperator>& operators);

/// Returns the claims of `kept` that `found` does not confirm, one sentence each.
///
/// A claim is "proved" or "holds in all states". A proof in `found` confirms both. Types that `found` lacks
/// are not compared.
[[nodiscard]] std::vector<std::string> unkept_proofs(const std::vector<StandardVerdict>& kept,
                                                     const std::vector<StandardVerdict>& found);

}  // namespace segfold::prove
