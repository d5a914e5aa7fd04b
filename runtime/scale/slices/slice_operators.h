#pragma once
// Operators that fold a part of the elements of another operator, and know the part's place.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// The reason why an operator cannot be folded in slices; empty if it can.
[[nodiscard]] std::string reason_against_slices(const Operator& op);
/// The reason why an operator cannot be folded in slices that are read from the first to the last; empty if
/// it can.
[[nodiscard]] std::string reason_against_streams(const Operator& op);
/// Throws InputError with reason_against_slices(), unless it is empty.
void require_slices(const Operator& op);
/// Throws InputError with reason_against_streams(), unless it is empty.
void require_streams(const Operator& op);

/// Throws InputError with the counter-example if associativity is refuted. `what_divides` is the message's
/// part before "segments": "slices cut", for example.
void require_associative(const OperatorLaws& laws, const Operator& op, std::string_view what_divides);

/// The same operator with its state as result.
[[nodiscard]] Operator state_operator(const Operator& op);

/// A table of places that a part's operator reads beside its own tables.
enum class BaseTable : std::uint8_t {
    index,  ///< one entry: the place of the part's first element in the whole input
    /// For a part, one entry: the number of its first segment. For pieces, one entry each: the number of the
    /// piece's segment.
    segment,
    position,  ///< for pieces, one entry each: the place of its first element in its segment
    carried,   ///< one entry: not 0 if elements of the piece's segment were scanned before the piece
    first,     ///< one entry: the place in the piece of the element that a scan visits first
    /// One entry of a state field's type: of the state of the elements scanned before the piece. There is one
    /// table for each field, in their order.
    carry,
};

/// An operator on a part of the elements. Its parameters are the original operator's, then the tables
/// `bases`, of i64 except BaseTable::carry.
struct PartOperator {
    Operator op;
    std::vector<BaseTable> bases = {};  ///< the tables that were added, in their order
    /// True if results of empty segments are computed with a wrong segment number; the host must store right
    /// ones.
    bool misnumbers_empties = false;
};

/// Returns an operator that folds the whole segments of a part. `index` and `segment` still count in the
/// whole input.
///
/// If `finish` uses `segment`, the state carries the number in one more field, because `finish` reads no
/// table.
[[nodiscard]] PartOperator inner_operator(const Operator& op);

/// Returns an operator that folds each piece of a segment to a state. The pieces are the segments of a part
/// of the input: piece p is its segment p. `index`, `segment` and `position` still count in the whole input.
/// Outputs are left out.
[[nodiscard]] PartOperator piece_operator(const Operator& op);

/// Returns an operator that folds one piece like piece_operator(), and whose scan goes on from a state: that
/// of the elements of the segment which were scanned before the piece. Outputs have names of their own.
[[nodiscard]] PartOperator scan_piece_operator(const Operator& op);

/// True if the part's operator is the same as the original one.
[[nodiscard]] bool counts_alike(const PartOperator& part);

}  // namespace segfold
