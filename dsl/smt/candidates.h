#pragma once
// Candidates for invariants, that is, claims that may hold for every state that elements reach.
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/laws/states.h"

namespace segfold::smt {

/// A claim about one state, as an expression over its fields.
struct Candidate {
    enum class Kind : std::uint8_t { not_negative, ordered, zero, other };
    Kind kind = Kind::other;
    std::size_t x = 0, y = 0;  ///< indices of fields; not_negative: 0 <= x; ordered: x <= y; zero: x = 0
    Expression claim;
    std::string text;  ///< for readers: "(leading = flights) => (trailing = flights)"
};

/// A list of candidates that can be evaluated and translated. `finish` of its bytecode returns one bool for
/// each candidate.
///
/// A candidate makes one of three claims: a field compares in a certain way with 0, 1, -1, a constant of the
/// operator or another field; a field is not NaN; or one equation or bool field implies another equation.
class Candidates {
public:
    Candidates(const Operator& op, std::vector<Candidate> list);

    [[nodiscard]] const std::vector<Candidate>& list() const { return list_; }
    [[nodiscard]] const Bytecode& bytecode() const { return bytecode_; }

    /// Returns one entry for each candidate: true if the claim holds for `state`.
    std::vector<bool> hold(const Slot<double>* state);

private:
    std::vector<Candidate> list_;
    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    std::vector<Slot<double>> results_;
};

/// Returns at most `kMostCandidates` candidates that no drawn state refutes. If `tame` is true, draws only
/// states of small integers and finite floats, which do not overflow. A float then counts as 0 if rounding of
/// the state's other floats may explain its value.
std::vector<Candidate> surviving_candidates(const Operator& op, bool tame);

/// Largest number of candidates passed to a prover.
inline constexpr std::size_t kMostCandidates = 240;

/// Prints invariants as a person writes them: "0 <= leading <= flights, (a = b) => (c = d)".
std::string print(const Operator& op, const std::vector<Candidate>& invariants);

}  // namespace segfold::smt
