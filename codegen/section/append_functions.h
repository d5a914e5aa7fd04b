#pragma once
// Emits the function append(), which combines a state with one more element, and functions that call it.
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// True if texts have a function append(): the operator has an append, and its lift reads no table.
bool has_append(const Operator& op);

/// True if the emitted append() takes `parameter`, a column or a scalar. Without an identity, append() calls
/// lift() for the first element of a run, and therefore takes all arguments of lift().
bool append_uses(const Operator& op, const Parameter& parameter);
/// True if the emitted append() takes `place`: index, position or segment.
bool append_uses(const Operator& op, std::string_view place);

/// Returns the C++ declaration of an operator's parameter as an argument of lift() and append(), such as
/// "float x" for a column or "const float* t" for a table.
std::string as_argument(const Parameter& parameter);

/// Returns the function append(state, ...) with the statements `body`. For an operator without an identity,
/// `present` is the name of the State's flag that is true if the state holds an element.
std::string append_function(const Operator& op, const std::string& present, const std::string& body);

/// Returns the struct Element, which holds the columns that append() takes, for one element. With it, kernels
/// can load an element before they know its run. The functions below return the texts of load_element(inputs,
/// index) and append_element(run, inputs, element, index, position, segment).
std::string element_struct(const Operator& op);
std::string load_element_function(const Operator& op);
std::string append_element_function(const Operator& op);

}  // namespace segfold
