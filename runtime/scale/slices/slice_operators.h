#pragma once
// Makes operators that fold a part of the elements and know where the part lies in the whole input.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/layout.h"
#include "dsl/operator.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// Returns the reason why an operator cannot be folded in slices; empty if it can.
[[nodiscard]] std::string reason_against_slices(const Operator& op);
/// Returns the reason why a stream, which reads slices from the first to the last, cannot fold an operator
/// over segments of this kind; empty if it can.
[[nodiscard]] std::string reason_against_streams(const Operator& op, LayoutKind kind);
/// Throws InputError if an operator cannot be folded in slices; see reason_against_slices().
void require_slices(const Operator& op);
/// Throws InputError if a stream cannot fold an operator; see reason_against_streams().
void require_streams(const Operator& op, LayoutKind kind);

/// Throws InputError with the counter-example if the operator's associativity is refuted. `what_divides`
/// comes before "segments" in the message, for example "slices cut".
void require_associative(const OperatorLaws& laws, const Operator& op, std::string_view what_divides);

/// Returns a copy of an operator whose result fields are the fields of its state.
[[nodiscard]] Operator state_operator(const Operator& op);

/// Returns a copy of an operator that folds elements to nothing: for their outputs alone, or their number.
[[nodiscard]] Operator stateless_operator(const Operator& op);

/// A table that a part's operator reads in addition to its parameters. It tells where the part lies in the
/// input, or holds a carried state.
enum class BaseTable : std::uint8_t {
    index,  ///< One entry: index of the part's first element in the whole input.
    /// The segment's number. For inner segments there is one entry, for the first segment; for pieces one
    /// entry for each piece.
    segment,
    position,  ///< for pieces, one entry each: position of its first element in the segment
    carried,   ///< for pieces, one entry each: nonzero if elements of its segment were scanned before it
    first,     ///< for pieces, one entry each: position in it of the element that a scan visits first
    /// For pieces, one entry each: a field of the state of the elements scanned before the piece, in the
    /// field's type. There is one such table for each field, in order.
    carry,
    /// For pieces, one entry each: a result of the piece's segment, in the result's type. There is one such
    /// table for each result, in order.
    result,
    length,  ///< for pieces, one entry each: the number of elements of its segment
};

/// An operator on a part of the elements. Its parameters are the parameters of the original operator, then
/// the tables `bases`. Tables have the type i64, except BaseTable::carry and BaseTable::result.
struct PartOperator {
    Operator op;
    std::vector<BaseTable> bases = {};  ///< the added tables, in order
    /// True if `op` computes results of empty segments with a wrong segment number. The host must then
    /// replace these results.
    bool misnumbers_empties = false;
};

/// Returns an operator that folds the inner segments of a part. `index` and `segment` still count in the
/// whole input.
///
/// If `finish` uses `segment`, one more field of the state has this number, because `finish` reads no table.
[[nodiscard]] PartOperator inner_operator(const Operator& op);

/// Returns an operator that folds each piece of a segment to a state. Piece p is segment p of the operator's
/// workload. `index`, `segment` and `position` still count in the whole input. The operator has no outputs.
[[nodiscard]] PartOperator piece_operator(const Operator& op);

/// Returns an operator that gives the outputs of pieces. Its scan continues from the state of the elements of
/// the segment that were scanned before the piece, and it also folds each piece like piece_operator(). Its
/// map reads results of segments from tables. Without a scan it has no results. Outputs have new names.
[[nodiscard]] PartOperator output_piece_operator(const Operator& op);

/// True if the part's operator has no added tables. It is then the original operator.
[[nodiscard]] bool counts_alike(const PartOperator& part);

}  // namespace segfold
