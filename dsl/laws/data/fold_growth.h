#pragma once
// Finds the operations of combine and append that may overflow in a fold of a given size.
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// Range of the integers in a column, table or scalar, by name. A name without a range may have all values of
/// its type.
using KnownValues = std::map<std::string, Interval, std::less<>>;

/// Size of a fold: number of elements of the longest segment, and of all segments together.
struct FoldLength {
    std::int64_t longest, num_elements;
};

/// Operations that may overflow, as nodes of the operator's expressions.
struct OverflowSites {
    using Nodes = std::set<const ExpressionNode*>;

    Nodes combine;           ///< operations of combine on two states made of elements
    Nodes combine_identity;  ///< operations of combine with the identity on either side
    Nodes append;            ///< operations of append to a state made of elements
    Nodes append_to_identity;
};

/// Finds the operations that may overflow where overflow matters, for any order of combining.
///
/// The values of each field are bounded by constants or by multiples of the number of elements in a state.
/// combine must keep these bounds.
///
/// Overflow of a value matters if the value is compared, divided or widened, for example, or if it reaches a
/// field whose overflow matters. It does not matter if the value is only added, multiplied, shifted left or
/// combined bit by bit. The result is then right modulo 2^width, and laws of integers still hold.
///
/// Ignores sides of conditions that are never taken, and each `let` that no taken side reads.
[[nodiscard]] OverflowSites overflow_sites(const Operator& op, const KnownValues& known, FoldLength length);
/// Finds the operations that may overflow where overflow matters, in a fold that uses no identity.
[[nodiscard]] OverflowSites overflow_sites_without_identity(const Operator& op, const KnownValues& known,
                                                            FoldLength length);

}  // namespace segfold
