#pragma once
// Which operations of combine and append may overflow in a fold of so many elements.
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// The integers that columns, tables and scalars hold, by their names; all of their types for the others.
using KnownValues = std::map<std::string, Interval, std::less<>>;

/// How much is folded: elements of the longest segment, and of all.
struct FoldLength {
    std::int64_t longest, num_elements;
};

/// Operations that may overflow, as nodes of the operator's expressions.
struct OverflowSites {
    using Nodes = std::set<const ExpressionNode*>;

    Nodes combine;           ///< of two states that elements have made
    Nodes combine_identity;  ///< of the identity and any state
    Nodes append;            ///< of a state that elements have made
    Nodes append_to_identity;
};

/// The operations that may overflow where that matters, in whatever order the elements are combined.
///
/// The values of each field are bounded by constants, or by multiples of the number of elements that a state
/// holds, and what combine makes of such states must be so bounded too. A value that wraps matters where it
/// is compared, divided, made wider or the like, or flows into a field that is: what is only added,
/// multiplied, shifted left and combined bit by bit is right but for multiples of 2^width, and laws that hold
/// of integers hold of it. A side of a condition that cannot be taken does not count, nor does a `let` that
/// nobody reads there.
[[nodiscard]] OverflowSites overflow_sites(const Operator& op, const KnownValues& known, FoldLength length);
/// The same of a fold that does without the identity.
[[nodiscard]] OverflowSites overflow_sites_without_identity(const Operator& op, const KnownValues& known,
                                                            FoldLength length);

}  // namespace segfold
