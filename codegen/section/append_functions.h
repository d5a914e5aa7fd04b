#pragma once
// Emits the functions of an operator with an append.
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// True if texts have a function append(): the operator has one, and its lift reads no table.
bool has_append(const Operator& op);

/// True if append() takes the parameter, a column or a scalar. Without identity it takes all that lift takes,
/// because it must lift the first element of a run.
bool append_uses(const Operator& op, const Parameter& parameter);
/// True if append() takes `place`, which is index, position or segment.
bool append_uses(const Operator& op, std::string_view place);

/// A parameter in the form for lift() and append(): "float x", "const float* t".
std::string as_argument(const Parameter& parameter);

/// Returns append(state, ...) with the statements `body`. `present` is the name of the flag of a state that
/// may be absent.
std::string append_function(const Operator& op, const std::string& present, const std::string& body);

/// Returns a struct of the columns that append() takes, so that they may be loaded before the run is known,
/// with load_element(inputs, index) and append_element(run, inputs, element, index, position, segment).
std::string element_struct(const Operator& op);
std::string load_element_function(const Operator& op);
std::string append_element_function(const Operator& op);

}  // namespace segfold
