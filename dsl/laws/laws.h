#pragma once
// The laws that an operator claims, and the search for counter-examples to them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// A law of combine, or of append. Associativity is always claimed, the identity where the state has one,
/// append where there is one, the others where declared.
enum class Law : std::uint8_t { associative, identity, commutative, idempotent, append };

/// "associative", "identity", ...
std::string_view name(Law law);

/// How far a law can be relied on, from most to least.
enum class Verdict : std::uint8_t {
    proved,                          ///< for every state that elements reach, by a theorem prover
    proved_while_nothing_overflows,  ///< the same, as far as every integer stays inside of its type
    proved_over_reals,     ///< the same, with floats taken for real numbers and integers for unbounded ones
    holds_exhaustively,    ///< for every state of the operator, or of its 8-bit version
    not_refuted,           ///< no case of the search breaks it
    holds_up_to_rounding,  ///< both sides differ, but by no more than rounding explains
    refuted,               ///< there is a counter-example
};

/// "proved", "proved_while_nothing_overflows", "holds_exhaustively", ...
std::string_view name(Verdict verdict);

/// How a verdict was found.
enum class Means : std::uint8_t {
    search,       ///< drawn states
    all_states,   ///< every state of the operator, or of its 8-bit version
    bit_vectors,  ///< Z3, with integers as words and floats bit for bit
    integers,     ///< Z3, with unbounded integers
    reals,        ///< Z3, with real numbers
};

/// "search", "all states", "bit vectors", ...
std::string_view name(Means means);

/// True for the three that a prover gives.
constexpr bool is_proof(Verdict verdict) { return verdict <= Verdict::proved_over_reals; }

/// A value of one field or column; integers and bools sign- or zero-extended in `bits`, floats in `real`.
struct FieldValue {
    Type type = Type::i32;
    std::uint64_t bits = 0;
    double real = 0;
};

/// The value as a literal of the language, the shortest that its type reads back: "-3", "0.1", "nan", "true".
std::string print(const FieldValue& value);

/// A state with the elements it was made of.
struct ReachedState {
    std::vector<FieldValue> fields;
    std::vector<std::vector<FieldValue>>
        elements;            ///< [element][column], lifted and combined from left to right
    std::string place = {};  ///< where the first element lies, "index 2147483645", if that matters
};

/// States that break a law, and the two states that should have been equal.
struct CounterExample {
    std::vector<ReachedState> states;  ///< a, b, c; as many as the law speaks of; of append a and lift(x)
    std::vector<FieldValue> left, right;
    std::vector<std::pair<std::string, FieldValue>> scalars =
        {};                             ///< their names and values, where there are any
    std::string left_side, right_side;  ///< what they are: "combine(combine(a, b), c)"
    std::string text;                   ///< all of it for a reader, several lines without a final newline
};

/// The finding on one law.
struct LawFinding {
    Law law = Law::associative;
    Verdict verdict = Verdict::not_refuted;
    std::int64_t cases = 0;             ///< tried with the operator's own types
    std::int64_t exhaustive_cases = 0;  ///< tried where all states were tried; 0: they were not
    bool eight_bit = false;             ///< all states of the 8-bit version, not of the operator itself
    double spread = 0;                  ///< largest rounding difference, relative to the case's largest float
    bool nan_differs = false;           ///< where states are not finite, one side alone may be NaN
    std::int64_t small_cases = 0;       ///< refuted by large integers: small ones tried, all of which hold
    /// Refuted, though no case does it whose elements are sorted by this column, of `sorted_cases` that break
    /// the law in other orders. Empty: there is no such column.
    std::string sorted_by = {};
    std::int64_t sorted_cases = 0;
    std::optional<CounterExample> counter_example;
    Means means = Means::search;
    double seconds = 0;           ///< that the prover took
    std::string invariants = {};  ///< that the proof needs and every state keeps: "0 <= leading <= flights"
    std::string unproved = {};    ///< why there is no proof, where one was tried
    /// Refuted by what overflows alone: proved while nothing does.
    bool holds_without_overflow = false;
};

/// The verdict as documents give it: that on the 8-bit version alone is "holds_exhaustively_in_8_bits".
std::string_view name_of_verdict(const LawFinding& finding);

/// The findings on all laws that an operator claims.
struct LawReport {
    std::vector<LawFinding> findings;
    std::vector<LawFinding> undeclared = {};  ///< laws that the operator does not claim, and that are proved
    std::string prover = {};  ///< "Z3 4.8.12", or why nothing was proved; empty: none was asked

    /// The finding on `law`, or nullptr if the operator does not claim it.
    [[nodiscard]] const LawFinding* find(Law law) const;
    [[nodiscard]] bool refuted(Law law) const;
    [[nodiscard]] bool any_refuted() const;
};

/// What is known of the values of a column.
struct ColumnRange {
    std::optional<FieldValue> lowest, highest;  ///< of the finite ones; absent where there are none
    bool has_negative_zero = false;
    bool has_positive_infinity = false;
    bool has_negative_infinity = false;
    bool has_nan = false;

    [[nodiscard]] bool is_finite() const
    {
        return !has_positive_infinity && !has_negative_infinity && !has_nan;
    }
};

/// The values of data: one entry for each column, in the order of the parameters; tables have none.
using DataRanges = std::vector<ColumnRange>;

/// Values of the scalars, in the order of the parameters; nothing for one that may have any value.
using ScalarValues = std::vector<std::optional<FieldValue>>;

/// How long to search. `seed` alone decides which cases are tried, `most_seconds` at most how many of them.
struct LawOptions {
    std::int64_t most_cases = 200000;  ///< per law
    double most_seconds = 0.2;         ///< for all laws together
    std::uint64_t seed = 1;
    const DataRanges* data = nullptr;       ///< elements are drawn from these ranges alone, where given
    const ScalarValues* scalars = nullptr;  ///< null: none is known; of those not known many values are tried
};

/// A search short enough to run before every emit; it finds the obvious counter-examples.
inline constexpr LawOptions kQuickLawOptions{2000, 0.002, 1};

/// Searches for counter-examples to the laws that a checked operator claims.
///
/// The states are reachable ones: elements are drawn (edge values, small and random ones), lifted, and some
/// are combined; those of a case are neighbours in one segment, earlier ones first. Where combine never
/// rounds, both sides must agree in every bit, any NaN being equal to any other. Otherwise the decision is
/// made in wide precision: a law is refuted only if its sides differ there too, by more than the rounding of
/// the operator's types and by far more than what the wide results change under other rounding modes (Vignes
/// 1993, "A stochastic arithmetic for reliable scientific computation"). There a NaN that comes of
/// infinite states does not refute the law. Where the state is small, or is so with all integers narrowed to
/// 8 bits, all states are tried. A counter-example is shrunk, and is always one of the operator itself.
LawReport check_laws(const Operator& op, const LawOptions& options = {});

/// The counter-example that the elements of `states`, one list for each state that `law` speaks of, shrink
/// to; nothing where the evaluator does not find that they break the law. They begin at element 10 of a
/// segment.
std::optional<CounterExample> confirmed(const Operator& op, Law law,
                                        const std::vector<std::vector<std::vector<FieldValue>>>& states,
                                        const ScalarValues* scalars = nullptr);

/// False where the identity changes some state of the kind that lift gives: fields that lift computes have
/// values of their types' whole range, whether an element makes them or not. Differences that rounding and
/// overflow explain count as well, but for a few roundings.
bool is_neutral_to_any_lifted(const Operator& op);

/// The operator as a semigroup, without its identity. A state that no element has reached is absent. The
/// result of an empty segment is that of `empty` or, where there is none, finish of the removed identity.
///
/// Gives the same results wherever the identity is neutral, and those of a fold from the first element
/// wherever it is not. An operator without identity is returned as it is.
Operator without_identity(Operator op);

/// The laws that the operator claims: associativity, the identity where it states one, what it declares, and
/// that its append gives what combine and lift give.
std::vector<Law> claimed_laws(const Operator& op);

/// True if a stage may rely on `law`: the operator claims it and the report does not refute it.
bool law_usable(const LawReport& report, Law law, const Operator& op);

/// One line, or the text of the counter-example; without a final newline.
std::string print(const LawFinding& finding, const Operator& op);

/// All findings, each ended by a newline.
std::string print(const LawReport& report, const Operator& op);

/// The first four of a proof's invariants, and how many more there are. JSON documents have all.
[[nodiscard]] std::string few_invariants(const std::string& invariants);

}  // namespace segfold
