#pragma once
// The verdicts on the laws of the standard operators, which come with the program:
// dsl/standard/verdicts.jsonl, and what another version of Z3 says otherwise in verdicts_newest.jsonl.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/text/standard_operators.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// How long Z3 has for all laws of an operator of one type, where the table is made: of the processor.
inline constexpr double kSecondsForTable = 10;

/// The verdict on a law of a standard operator, for all types of which it is the same.
struct StandardVerdict {
    std::string op;  ///< name of the operator
    Law law = Law::associative;
    bool is_claimed = true;   ///< false: commutativity that is proved and not declared
    std::vector<Type> types;  ///< what T is, in the order of kTypes
    Verdict verdict = Verdict::not_refuted;
    bool eight_bit = false;  ///< all states of the 8-bit version, not of the operator itself
    std::string invariants;  ///< that the proof needs and every state keeps
    std::string unproved;    ///< why there is no proof
    std::string text;        ///< standard_digest() of the operator when it was judged
    std::string prover;      ///< "Z3 4.8.12"
};

/// The types that the table has verdicts for: i32, u32, f32 and f64, as far as `op` takes them.
[[nodiscard]] std::vector<Type> judged_types(const StandardOperator& op);

/// The first 12 hexadecimal digits of the SHA-256 of an operator's texts in all of its types.
[[nodiscard]] std::string standard_digest(const StandardOperator& op);

/// Judges the laws of `op` in each of `types`, by a search of the same cases on every machine and then by
/// Z3. Throws InputError where there is no Z3.
[[nodiscard]] std::vector<StandardVerdict> judge_standard(const StandardOperator& op,
                                                          const std::vector<Type>& types, Solver& solver,
                                                          double seconds = kSecondsForTable);

/// A line of the table, without its end.
[[nodiscard]] std::string print(const StandardVerdict& verdict);

/// The verdicts in lines of the table `file`. Throws InputError where one cannot be read.
[[nodiscard]] std::vector<StandardVerdict> parse_standard_verdicts(std::string_view text,
                                                                   std::string_view file = "verdicts.jsonl");

/// The table that comes with the program, by operator and law.
[[nodiscard]] std::vector<StandardVerdict> standard_verdicts();

/// The verdicts of a newer Z3 that differ from that table.
[[nodiscard]] std::vector<StandardVerdict> newest_verdicts();

/// The verdicts of `found` that `kept` does not have, for the types of which it has another one.
[[nodiscard]] std::vector<StandardVerdict> differing(const std::vector<StandardVerdict>& kept,
                                                     std::vector<StandardVerdict> found);

/// What is wrong with `kept` as the table of `operators`: missing and unknown operators, laws and types,
/// texts that have changed since, verdicts `refuted`. One sentence each; empty where all is well.
[[nodiscard]] std::vector<std::string> faults_of_table(const std::vector<StandardVerdict>& kept,
                                                       const std::vector<StandardOperator>& operators);

/// Proofs, and laws that hold for all states, which `kept` claims and `found` does not give, for the types in
/// `found`; a proof gives all that may be claimed. One sentence each.
[[nodiscard]] std::vector<std::string> unkept_proofs(const std::vector<StandardVerdict>& kept,
                                                     const std::vector<StandardVerdict>& found);

}  // namespace segfold::prove
