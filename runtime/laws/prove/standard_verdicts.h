#pragma once
// Reads and checks the table of verdicts on the laws of the standard operators, dsl/standard/verdicts.jsonl.
// The file verdicts_newest.jsonl holds verdicts of a newer Z3 that differ from the table.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/text/standard_operators.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// Processor time, in seconds, in which Z3 judges all laws of an operator for one type when the table is
/// made.
inline constexpr double kSecondsForTable = 10;

/// The verdict on one law of a standard operator, for all types with the same verdict.
struct StandardVerdict {
    std::string op;  ///< name of the operator
    Law law = Law::associative;
    bool is_claimed = true;   ///< false: commutativity is proved but not declared
    std::vector<Type> types;  ///< the types of T with this verdict, in the order of kTypes
    Verdict verdict = Verdict::not_refuted;
    bool eight_bit = false;  ///< the verdict is about all states of the operator's 8-bit version
    std::string invariants;  ///< the invariants that the proof uses
    std::string unproved;    ///< reason why there is no proof
    std::string text;        ///< standard_digest() of the operator at the time of judging
    std::string prover;      ///< such as "Z3 4.8.12"
};

/// Returns the types for which the table has verdicts: i32, u32, f32 and f64 if `op` accepts them.
[[nodiscard]] std::vector<Type> judged_types(const StandardOperator& op);

/// Returns the first 12 hexadecimal digits of the SHA-256 of the operator's texts in all its types.
[[nodiscard]] std::string standard_digest(const StandardOperator& op);

/// Judges the laws of `op` in each of `types` by a search, then by Z3. The search tries the same cases on
/// every machine. `seconds` is the limit of Z3's processor time per type. Throws InputError if Z3 is not
/// available.
[[nodiscard]] std::vector<StandardVerdict> judge_standard(const StandardOperator& op,
                                                          const std::vector<Type>& types, Solver& solver,
                                                          double seconds = kSecondsForTable);

/// Returns the verdict as one line of the table, without a newline.
[[nodiscard]] std::string print(const StandardVerdict& verdict);

/// Parses `text`, the lines of the table `file`. Throws InputError if a line cannot be parsed.
[[nodiscard]] std::vector<StandardVerdict> parse_standard_verdicts(std::string_view text,
                                                                   std::string_view file = "verdicts.jsonl");

/// Returns the table that ships with the program, ordered by operator and law.
[[nodiscard]] std::vector<StandardVerdict> standard_verdicts();

/// Returns the verdicts of a newer Z3 that differ from standard_verdicts().
[[nodiscard]] std::vector<StandardVerdict> newest_verdicts();

/// Returns the verdicts in `found` that differ from `kept`. Ignores types for which `kept` has no verdict.
[[nodiscard]] std::vector<StandardVerdict> differing(const std::vector<StandardVerdict>& kept,
                                                     std::vector<StandardVerdict> found);

/// Compares the table `kept` with the standard operators `operators`. Returns a sentence for each fault: a
/// missing or unknown operator, law or type, an operator changed since it was judged, or a verdict `refuted`.
/// Empty if there is no fault.
[[nodiscard]] std::vector<std::string> faults_of_table(const std::vector<StandardVerdict>& kept,
                                                       const std::vector<StandardOperator>& operators);

/// Returns the claims of `kept` that `found` does not confirm, one sentence each.
///
/// Claims are the verdicts "proved" and "holds in all states". A proof in `found` confirms either. Types that
/// `found` lacks are not compared.
[[nodiscard]] std::vector<std::string> unkept_proofs(const std::vector<StandardVerdict>& kept,
                                                     const std::vector<StandardVerdict>& found);

}  // namespace segfold::prove
