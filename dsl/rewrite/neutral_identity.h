#pragma once
// Gives an operator an identity that is neutral by its construction.
#include <set>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns a checked `op` with one more field, which tells whether a state has elements. If an operand of
/// combine has no elements, combine gives the other operand. Fields keep their identities; a field without an
/// identity gets 0.
///
/// Stores the name of the new field in `field`. Results are those of `op` for states of elements.
[[nodiscard]] Operator with_neutral_identity(Operator op, std::string& field);

/// The `finish` of an operator that has none: the results are the fields of its state.
[[nodiscard]] Block copied_state(const Operator& op);

/// Returns `name`, followed by as many underscores as make it different from all names in `op`. A name that
/// is too long is cut.
[[nodiscard]] std::string unused_name(const Operator& op, const std::string& name);

/// Same as above, but the name also differs from all names in `made`. Adds the name to `made`.
[[nodiscard]] std::string unused_name(const Operator& op, const std::string& name,
                                      std::set<std::string>& made);

}  // namespace segfold
