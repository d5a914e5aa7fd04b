#pragma once
// Gives an operator an identity that is neutral by construction.
#include <set>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns a checked `op` with one more field, which tells whether a state has elements. If one operand of
/// combine has no elements, combine returns the other operand. Fields keep their identities. A field without
/// an identity gets 0.
///
/// Stores the name of the new field in `field`. For states made of elements, results stay the same.
[[nodiscard]] Operator with_neutral_identity(Operator op, std::string& field);

/// Makes a `finish` for an operator that has none. Its results are the fields of the state.
[[nodiscard]] Block copied_state(const Operator& op);

/// Returns `name`, followed by as many underscores as make it different from all names in `op`. Cuts a name
/// that is too long.
[[nodiscard]] std::string unused_name(const Operator& op, const std::string& name);

/// Same as above, but the name also differs from all names in `made`. Adds the name to `made`.
[[nodiscard]] std::string unused_name(const Operator& op, const std::string& name,
                                      std::set<std::string>& made);

}  // namespace segfold
