#pragma once
// Candidates for invariants: statements that may hold for every state that elements reach.
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/laws/states.h"

namespace segfold::smt {

/// A property of one state, as an expression over its fields.
struct Candidate {
    enum class Kind : std::uint8_t { not_negative, ordered, zero, other };
    Kind kind = Kind::other;
    std::size_t x = 0, y = 0;  ///< not_negative: 0 <= x; ordered: x <= y; zero: x = 0; numbers of fields
    Expression claim;
    std::string text;  ///< "(leading = flights) => (trailing = flights)"
};

/// Candidates that can be evaluated and translated: `finish` of the bytecode gives a bool for each.
///
/// The forms are x >= 0, x >= 1, x >= -1, x <= y, x = y, x = 0 or 1, x <= c for constants of the text, x is a
/// number, (x = y) => (z = w), (x = y) => (z = 0), (x = 0) => (y = 0), and x => y of bools.
class Candidates {
public:
    Candidates(const Operator& op, std::vector<Candidate> list);

    [[nodiscard]] const std::vector<Candidate>& list() const { return list_; }
    [[nodiscard]] const Bytecode& bytecode() const { return bytecode_; }

    /// For each candidate: whether it holds for a state.
    std::vector<bool> hold(const Slot<double>* state);

private:
    std::vector<Candidate> list_;
    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    std::vector<Slot<double>> results_;
};

/// The candidates that no state drawn refutes, `kMostCandidates` at most. With `tame`, states are those of
/// small integers and finite floats: others overflow. Of reals, a field that holds what rounding leaves of
/// others is 0.
std::vector<Candidate> surviving_candidates(const Operator& op, bool tame);

/// Most candidates that are handed to a prover.
inline constexpr std::size_t kMostCandidates = 240;

/// Those invariants as a person writes them: "0 <= leading <= flights, (a = b) => (c = d)".
std::string print(const Operator& op, const std::vector<Candidate>& invariants);

}  // namespace segfold::smt
