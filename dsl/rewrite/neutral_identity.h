#pragma once
// Gives an operator an identity that is neutral by its construction.
#include <set>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns a checked `op` whose state also tells whether it has elements; if one of the operands of combine
/// has none, the other is the value. The values of the identity stay; where there are none, they are 0.
///
/// The field's name is set to `field`. Results are those of `op` for states of elements.
[[nodiscard]] Operator with_neutral_identity(Operator op, std::string& field);

/// The `finish` of an operator that has none: the results are the fields of its state.
[[nodiscard]] Block copied_state(const Operator& op);

/// Returns `name`, followed by as many underscores as make it different from all names in `op`. A name that
/// is too long is cut.
[[nodiscard]] std::string unused_name(const Operator& op, const std::string& name);

/// The same with names that also differ from those in `made`, to which it is added.
[[nodiscard]] std::string unused_name(const Operator& op, const std::string& name,
                                      std::set<std::string>& made);

}  // namespace segfold
