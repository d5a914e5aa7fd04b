#pragma once
// Operators: their parameters, state, lift, combine, finish and results.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/expression.h"

namespace segfold {

/// An input of an operator. A column is read at the element's index, a table at any index. A scalar is one
/// value for all elements.
///
/// A scalar is stored as a table of one entry, given at launch. Expressions read its entry 0.
struct Parameter {
    std::string name;
    Type type;
    bool table = false;
    Position position;
    bool scalar = false;  ///< one value for all elements; then `table` is true as well
    bool row = false;     ///< each element or table entry is a row; expressions handle one number of the row
};

/// A field of the state. `identity` is the field's value in combine's identity; a semigroup has none.
struct StateField {
    std::string name;
    Type type;
    std::optional<Expression> identity;
    Position position;
};

/// A result or an output. A fold returns one array for each.
struct ResultField {
    std::string name;
    Type type;
    Position position;
};

/// The statement `let name = value;`.
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

/// A part of an operator: locals, then one value for each field that the part sets. check() sorts the values
/// into the order of the fields.
struct Block {
    std::vector<Let> lets;
    std::vector<Assignment> assignments;
    Position position;
};

/// The part `scan`. It gives each element outputs, computed from two states: one before the element, and one
/// that includes it.
///
/// `before` and `through` are the author's names of the two states. In the block's expressions,
/// Operand::earlier is `before`, Operand::later is `through`, and through = combine(before, lift(element)).
/// In reverse, `before` covers the later elements of the segment, and through = combine(lift(element),
/// before). At the first element visited, `before` is the identity.
struct Scan {
    std::string before = "before", through = "through";
    bool reverse = false;
    Block block = {};
};

/// kLongestName is the greatest length of a name in bytes. kMostFields is the greatest number of parameters,
/// of state fields and of results.
inline constexpr std::size_t kLongestName = 64;
inline constexpr std::size_t kMostFields = 256;

/// Laws that the author claims besides associativity. They may be false; dsl/laws judges them.
struct Laws {
    bool commutative = false;
    bool idempotent = false;
    bool operator==(const Laws&) const = default;
};

/// An associative operator with its lift and finish: everything needed to fold a segment.
///
/// combine(earlier, later) is associative. Its left operand always covers earlier elements. A segment folds
/// to finish(combine(...combine(lift(e0), lift(e1))..., lift(en))). If every state field has an identity, the
/// operator is a monoid. If none has, it is a semigroup, and an empty segment has a result only through
/// `empty`. Stages that fold element by element use `append`, which must equal combine with lift. `map`
/// computes outputs of each element from the finished results of its segment. `scan` computes them from the
/// states before the element and through it. Each output is set by either `map` or `scan`.
struct Operator {
    std::string name;
    std::string description;  ///< the comment lines above it, without comment marks
    std::vector<Parameter> parameters;
    std::vector<ResultField> results;
    std::vector<ResultField> outputs;  ///< set by `map` and `scan`: arrays as long as the input
    bool keeps_results = true;         ///< false: the results are not returned
    std::vector<StateField> state;
    Block lift;
    std::string earlier = "a";  ///< combine's names for its operands
    std::string later = "b";
    Block combine;
    /// Computes combine(earlier, lift(element)) in fewer steps. It may read fields of the earlier state, and
    /// all names of lift except tables. Elements are appended in ascending order of their index.
    std::optional<Block> append;
    std::optional<Block> finish;  ///< absent: the result is the state, field by field
    std::optional<Block> empty;   ///< absent: the result of an empty segment is finish(identity)
    std::optional<Block> map;     ///< write-back: makes outputs of an element from its segment's results
    /// Running results: makes outputs of an element from the states before it and through it.
    std::optional<Scan> scan;
    Laws laws;
    Position position;
    SourcePointer source;            ///< the text of the operator, for messages; may be null
    std::string identity_word = {};  ///< name of the identity in messages: "--identity"; empty: default
    /// The operators that `&` joined into this one; null if there are none.
    std::shared_ptr<const std::vector<Operator>> factors = {};

    [[nodiscard]] bool has_identity() const { return !state.empty() && state.front().identity.has_value(); }
    /// True if an empty segment has a result.
    [[nodiscard]] bool allows_empty() const { return has_identity() || empty.has_value(); }
    /// True if data may have empty segments: such a segment has a result, or needs none.
    [[nodiscard]] bool takes_empty_segments() const { return allows_empty() || (!keeps_results && !map); }
};

/// Name of the only result field if the author gave none (`-> f32`).
inline constexpr const char* kResultName = "result";

/// Returns a digest that identifies the operator in caches and kept plans. Ignores positions, sources and
/// descriptions. Walks no tree, because every expression already has its digest.
Digest digest_of(const Operator& op);

/// True if both operators have the same digest.
bool same(const Operator& left, const Operator& right);

/// Returns the arrays that a fold returns, in order: the results, if the operator keeps them, then the
/// outputs.
std::vector<ResultField> returned_fields(const Operator& op);

/// Returns the indices in `op.outputs` of the outputs that a block of `map` or `scan` sets, in the block's
/// order. `op` must be checked.
std::vector<std::size_t> output_places(const Operator& op, const Block& block);

/// Returns the operator without `map` and `scan`. Its results are the results that `map` reads, even if `op`
/// does not return these.
Operator without_outputs(Operator op);

/// True if `scan` reads the state before an element.
bool reads_before(const Operator& op);

/// True if an expression of the block uses `name`: index, position, segment or length.
bool uses_name(const Block& block, std::string_view name);

/// True if an expression of the block reads a parameter: a column, a scalar or a table.
bool reads(const Block& block, std::string_view parameter);

/// Returns advice for an operator that gives empty segments no result: "give its state fields an identity
/// ...".
std::string advice_on_empty_segments(const Operator& op);

/// True if combine() never rounds. The state then has the same bits for any grouping of the elements.
///
/// For floats, + - * / and most functions round. Comparisons, selections, conversions, copies and the
/// functions min, max, abs, copysign, floor, ceil and round count as exact.
bool combines_exactly(const Operator& op);

/// True if all back ends give the same bits. For this, combine must never round, and other parts may round
/// only by single operations that are rounded correctly everywhere.
bool is_exact(const Operator& op);

}  // namespace segfold
