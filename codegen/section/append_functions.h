#pragma once
// Emits the functions of an operator with an append.
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// True if texts have a function append(): the operator has an append, and its lift reads no table.
bool has_append(const Operator& op);

/// True if append() takes `parameter`, which is a column or a scalar. Without identity, append() calls lift()
/// for the first element of a run, so it takes all arguments of lift().
bool append_uses(const Operator& op, const Parameter& parameter);
/// True if append() takes `place`, which is index, position or segment.
bool append_uses(const Operator& op, std::string_view place);

/// A parameter as an argument of lift() and append(): "float x", "const float* t".
std::string as_argument(const Parameter& parameter);

/// Returns append(state, ...) with the statements `body`. In a state that may be absent, `present` is the
/// name of the flag.
std::string append_function(const Operator& op, const std::string& present, const std::string& body);

/// Returns a struct of the columns that append() takes, so that they may be loaded before the run is known.
/// The functions below are load_element(inputs, index) and append_element(run, inputs, element, index,
/// position, segment).
std::string element_struct(const Operator& op);
std::string load_element_function(const Operator& op);
std::string append_element_function(const Operator& op);

}  // namespace segfold
