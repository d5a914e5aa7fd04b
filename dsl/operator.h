#pragma once
// Operators: their parameters, state, lift, combine, finish and results.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/expression.h"

namespace segfold {

/// An input of an operator: a column read at the element's place, a table read at any place, or a scalar.
///
/// A scalar is a table of one entry, which the launch gives; an expression reads its entry 0.
struct Parameter {
    std::string name;
    Type type;
    bool table = false;
    Position position;
    bool scalar = false;  ///< one value for all elements; then `table` is true as well
    bool row =
        false;  ///< each element, or each entry, is a row of features; expressions mean one feature of it
};

/// A field of the state; `identity` is its value in combine's identity, absent in a semigroup.
struct StateField {
    std::string name;
    Type type;
    std::optional<Expression> identity;
    Position position;
};

/// A field of the result, one output array.
struct ResultField {
    std::string name;
    Type type;
    Position position;
};

/// `let name = value;`
struct Let {
    std::string name;
    Expression value;
    Position position;
};

/// `field = value`
struct Assignment {
    std::string field;
    Expression value;
    Position position;
};

/// Local names, then one value for every field of the state or of the result, in the fields' order once
/// checked.
struct Block {
    std::vector<Let> lets;
    std::vector<Assignment> assignments;
    Position position;
};

/// Longest name, in letters; most parameters, most state fields and most results that an operator may have.
inline constexpr std::size_t kLongestName = 64;
inline constexpr std::size_t kMostFields = 256;

/// Laws that the author claims beyond associativity; claims are checked, not believed.
struct Laws {
    bool commutative = false;
    bool idempotent = false;
    bool operator==(const Laws&) const = default;
};

/// An associative operator with its lift and finish: everything that folding a segment needs.
///
/// combine(earlier, later): the left operand always covers earlier elements. `combine` is associative;
/// where every state field has an identity it is a monoid, where none has it is a semigroup and an empty
/// segment has a result only through `empty`. Fold of a segment: finish(combine(...combine(lift(e0),
/// lift(e1))..., lift(en))). `append` is no part of that definition: it must give what combine and lift give,
/// and serves stages that fold element by element. Where there is a `map`, each element is then mapped with
/// the finished results of its segment.
struct Operator {
    std::string name;
    std::string description;  ///< the comment lines above it, without the marks
    std::vector<Parameter> parameters;
    std::vector<ResultField> results;
    std::vector<ResultField> outputs;  ///< outputs of `map` for each element: arrays as long as the input
    bool keeps_results = true;         ///< false: only `map` sees the results of segments
    std::vector<StateField> state;
    Block lift;
    std::string earlier = "a";  ///< combine's names for its operands
    std::string later = "b";
    Block combine;
    /// combine(earlier, lift(element)) in fewer steps: names fields of the earlier state, and what lift
    /// names but tables. Elements come in ascending order of their index.
    std::optional<Block> append;
    std::optional<Block> finish;  ///< absent: the result is the state, field by field
    std::optional<Block> empty;   ///< absent: the result of an empty segment is finish(identity)
    std::optional<Block> map;     ///< write-back: the outputs of an element, from its segment's results
    Laws laws;
    Position position;
    SourcePointer source;            ///< the text it was read from, for messages; may be null
    std::string identity_word = {};  ///< of a short form: the author's identity
    std::shared_ptr<const std::vector<Operator>> factors = {};  ///< of a product by `&`, else null

    [[nodiscard]] bool has_identity() const { return !state.empty() && state.front().identity.has_value(); }
    /// True when an empty segment has a result.
    [[nodiscard]] bool allows_empty() const { return has_identity() || empty.has_value(); }
};

/// The name of the only result field when the author gave it none (`-> f32`).
inline constexpr const char* kResultName = "result";

/// True when both say the same; positions, sources and descriptions do not count.
bool same(const Operator& left, const Operator& right);

/// The arrays that a fold returns, in order: the results, unless only `map` sees them, then the outputs.
std::vector<ResultField> returned_fields(const Operator& op);

/// The operator without its `map`: a fold whose results are those that `map` would see.
Operator without_map(Operator op);

/// True if some expression of the block uses the name `name` (index, position, segment, length).
bool uses_name(const Block& block, std::string_view name);

/// Advice for an operator without a result of empty segments: "give its state fields an identity ...".
std::string advice_on_empty_segments(const Operator& op);

/// True when combine() never rounds, so that no grouping changes a bit of the state.
///
/// min, max, comparisons, selection and copies of floats are exact; + - * / and the other functions are not.
bool combines_exactly(const Operator& op);

/// True when nothing in the operator rounds but by single operations: every back end gives the same bits.
bool is_exact(const Operator& op);

}  // namespace segfold
