#pragma once
// The laws that an operator claims, and the search for counter-examples.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// A law of combine or append. An operator always claims associativity. It claims `identity` if its state has
/// one, `append` if it has that part, and the other laws if it declares them.
enum class Law : std::uint8_t { associative, identity, commutative, idempotent, append };

/// Name of a law, such as "associative".
std::string_view name(Law law);

/// The laws on which a stage may rely, because the operator claims them and no check has refuted them.
struct UsableLaws {
    bool associative = true;
    bool commutative = false;
    bool idempotent = false;
    bool assumes_associative = false;  ///< true if associativity is refuted, but the user asked to rely on it

    /// True if no check has refuted associativity. If a check has refuted it, only a fold from left to right
    /// gives right results, even if the user asked to rely on associativity.
    [[nodiscard]] bool is_associative() const { return associative && !assumes_associative; }
};

/// Degree to which a law is known, from most to least reliable.
enum class Verdict : std::uint8_t {
    proved,                          ///< proved for every reachable state by a theorem prover
    proved_while_nothing_overflows,  ///< proved as long as no integer leaves its type
    proved_over_reals,               ///< proved with floats as real numbers and integers without bounds
    holds_exhaustively,              ///< holds for every state of the operator, or of its 8-bit version
    not_refuted,                     ///< the search found no counter-example
    holds_up_to_rounding,            ///< both sides differ, but rounding explains it
    refuted,                         ///< a counter-example was found
};

/// Name of a verdict, such as "proved".
std::string_view name(Verdict verdict);

/// The method that gave a verdict.
enum class Means : std::uint8_t {
    search,       ///< a search over drawn states
    all_states,   ///< every state of the operator, or of its 8-bit version
    bit_vectors,  ///< Z3, with integers and floats bit for bit
    integers,     ///< Z3, with unbounded integers
    reals,        ///< Z3, with real numbers
};

/// Name of a method, such as "all states".
std::string_view name(Means means);

/// True for the three verdicts of a prover.
constexpr bool is_proof(Verdict verdict) { return verdict <= Verdict::proved_over_reals; }

/// A value of one field or column. Integers and bools are sign- or zero-extended in `bits`; floats are in
/// `real`.
struct FieldValue {
    Type type = Type::i32;
    std::uint64_t bits = 0;
    double real = 0;
};

/// Prints the value as the shortest literal that reads back as the same value: "-3", "0.1", "nan", "true".
std::string print(const FieldValue& value);

/// A state with the elements that make it.
struct ReachedState {
    std::vector<FieldValue> fields;
    std::vector<std::vector<FieldValue>>
        elements;  ///< [element][column], lifted and combined from left to right
    /// Index, position and segment of the first element, as far as lift reads them: "index 2147483645".
    std::string place = {};
};

/// States that break a law, and the two states that should be equal.
struct CounterExample {
    /// One entry for each state a, b, c of the equation. For append, the entries are a and lift(x).
    std::vector<ReachedState> states;
    std::vector<FieldValue> left, right;
    std::vector<std::pair<std::string, FieldValue>> scalars =
        {};                             ///< names and values of scalars, if there are any
    std::string left_side, right_side;  ///< formulas of the sides: "combine(combine(a, b), c)"
    std::string text;                   ///< for readers: several lines without a final newline
};

/// The verdict on one law, with its evidence.
struct LawFinding {
    Law law = Law::associative;
    Verdict verdict = Verdict::not_refuted;
    std::int64_t cases = 0;             ///< cases tried with the operator's own types
    std::int64_t exhaustive_cases = 0;  ///< cases in a trial of all states; 0: there was no such trial
    bool eight_bit = false;             ///< all states of the 8-bit version were tried
    double spread = 0;                  ///< largest rounding difference, relative to the case's largest float
    bool nan_differs = false;           ///< true if one side alone is NaN for some states that are not finite
    /// Number of cases of small integers tried, if the law holds for all of them and only large integers
    /// refute it; else 0.
    std::int64_t small_cases = 0;
    /// Column by which elements may be sorted so that the law holds; empty if there is none. The law is
    /// refuted, but no case sorted by this column breaks it. `sorted_cases` is the number of tried cases that
    /// break it in other orders.
    std::string sorted_by = {};
    std::int64_t sorted_cases = 0;
    std::optional<CounterExample> counter_example;
    Means means = Means::search;
    double seconds = 0;           ///< processor time of the prover
    std::string invariants = {};  ///< facts about states on which the proof relies: "0 <= leading <= flights"
    std::string unproved = {};    ///< why no proof was found; empty if there is a proof or none was tried
    /// True if only overflow refutes the law. The law is then proved as long as nothing overflows.
    bool holds_without_overflow = false;
};

/// Returns the verdict's name in documents. It is "holds_exhaustively_in_8_bits" if only the 8-bit version
/// was tried.
std::string_view name_of_verdict(const LawFinding& finding);

/// The findings on all laws of an operator.
struct LawReport {
    std::vector<LawFinding> findings;
    std::vector<LawFinding> undeclared = {};  ///< proved laws that the operator does not claim
    std::string prover = {};  ///< "Z3 4.8.12", or why nothing was proved; empty: no prover was asked

    /// Returns the finding on `law`, or nullptr if the operator does not claim it.
    [[nodiscard]] const LawFinding* find(Law law) const;
    [[nodiscard]] bool refuted(Law law) const;
    [[nodiscard]] bool any_refuted() const;
};

/// Known range of a column's values.
struct ColumnRange {
    /// Lowest and highest finite value; none if no value is finite.
    std::optional<FieldValue> lowest, highest;
    bool has_negative_zero = false;
    bool has_positive_infinity = false;
    bool has_negative_infinity = false;
    bool has_nan = false;

    [[nodiscard]] bool is_finite() const
    {
        return !has_positive_infinity && !has_negative_infinity && !has_nan;
    }
};

/// One entry for each column, in the order of the parameters. Tables have no entries.
using DataRanges = std::vector<ColumnRange>;

/// Values of the scalars, in the order of the parameters; none for an unknown value.
using ScalarValues = std::vector<std::optional<FieldValue>>;

/// Limits of a search. `seed` decides which cases are tried. `most_seconds` may end the search early.
struct LawOptions {
    std::int64_t most_cases = 200000;  ///< most cases tried for each law
    double most_seconds = 0.2;         ///< most time for all laws together
    std::uint64_t seed = 1;
    const DataRanges* data = nullptr;  ///< if given, elements lie in these ranges
    /// Values of the scalars; null if all are unknown. Several values are tried for each unknown scalar.
    const ScalarValues* scalars = nullptr;
};

/// Limits of a search short enough to run before every emit. It finds obvious counter-examples.
inline constexpr LawOptions kQuickLawOptions{2000, 0.002, 1};

/// Searches for counter-examples to the laws that a checked operator claims.
///
/// Every tried state can occur, because it is made of elements. Elements are edge values, small numbers or
/// random numbers. The states of a case are neighbours in one segment, earlier ones first.
///
/// If combine never rounds, both sides must agree in every bit, except that all NaN are equal. Otherwise wide
/// precision decides. It refutes a law only if the sides differ by more than the rounding of the operator's
/// types, and by far more than the wide results change under other rounding modes (Vignes 1993, "A stochastic
/// arithmetic for reliable scientific computation"). A NaN that comes from infinite states then does not
/// refute the law.
///
/// All states are tried if the state has at most 256 values, or if it has so few after its integers are
/// narrowed to 8 bits. Counter-examples are shrunk. Each holds for the operator itself, not only for its
/// 8-bit version.
LawReport check_laws(const Operator& op, const LawOptions& options = {});

/// Returns the shrunk counter-example that `states` give. `states` lists the elements of each state of `law`.
/// Returns none if the evaluator finds that these states do not break the law. The first element has position
/// 10 in its segment.
std::optional<CounterExample> confirmed(const Operator& op, Law law,
                                        const std::vector<std::vector<std::vector<FieldValue>>>& states,
                                        const ScalarValues* scalars = nullptr);

/// True if the identity changes no state that lift might give. Assumes that a field computed by lift may take
/// any value of its type, even if no element gives this value. Allows differences of a few roundings. Counts
/// larger differences even if rounding or overflow explains them.
bool is_neutral_to_any_lifted(const Operator& op);

/// Removes the identity, so that the operator becomes a semigroup. An empty segment then gives the result of
/// `empty`. If there is no `empty`, it gives finish of the removed identity.
///
/// The removal of a neutral identity changes no result. If the identity is not neutral, the fold now begins
/// with the first element instead of the identity. Returns an operator without identity unchanged.
Operator without_identity(Operator op);

/// Returns the laws that the operator claims: associativity, identity if it has one, `append` if it has that
/// part, and the laws that it declares.
std::vector<Law> claimed_laws(const Operator& op);

/// True if a stage may rely on `law`, because the operator claims it and the report does not refute it.
bool law_usable(const LawReport& report, Law law, const Operator& op);

/// Prints a finding as one line, or as the text of its counter-example. There is no final newline.
std::string print(const LawFinding& finding, const Operator& op);

/// Prints all findings, each with a final newline.
std::string print(const LawReport& report, const Operator& op);

/// Prints the first four invariants of a proof and the number of further ones. JSON documents hold all
/// invariants.
[[nodiscard]] std::string few_invariants(const std::string& invariants);

}  // namespace segfold
