#pragma once
// Operators made of another one that fold a part of its elements, told where the part lies.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// Why an operator cannot be folded in slices; empty where it can.
[[nodiscard]] std::string reason_against_slices(const Operator& op);
/// Throws InputError with that reason.
void require_slices(const Operator& op);

/// Throws InputError with the counter-example where associativity is refuted. `what_divides` segments are
/// "slices cut", say.
void require_associative(const OperatorLaws& laws, const Operator& op, std::string_view what_divides);

/// The same operator with its state as result: nothing is finished, so that results can be combined further.
[[nodiscard]] Operator state_operator(const Operator& op);

/// What a table that an operator was given beside its own says of a part.
enum class BaseTable : std::uint8_t {
    index,     ///< the place in the whole input of the part's first element; one entry
    segment,   ///< the number of the part's first segment, one entry; of pieces: of each piece's segment
    position,  ///< of pieces: the place in its segment of each piece's first element
};

/// An operator on a part of the elements. Its parameters are the original's, then tables of i64.
struct PartOperator {
    Operator op;
    std::vector<BaseTable> bases = {};  ///< the tables that were added, in their order
    /// Empty segments have a result that says a wrong segment number: the host stores the right one.
    bool misnumbers_empties = false;
};

/// Folds segments that lie whole in a part: `index` and `segment` count in the whole input.
///
/// `finish` reads no table. Where it uses `segment`, the state carries the number in one more field.
[[nodiscard]] PartOperator inner_operator(const Operator& op);

/// Folds pieces of segments to states: piece p is segment p of the part, and `index`, `segment`, `position`
/// are those in the whole input.
[[nodiscard]] PartOperator piece_operator(const Operator& op);

/// True where a part needs no operator of its own.
[[nodiscard]] bool counts_alike(const PartOperator& part);

}  // namespace segfold
