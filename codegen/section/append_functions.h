#pragma once
// The functions of an operator that has an append.
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// True if texts have a function append(): the operator has the part, and its lift reads no table.
bool has_append(const Operator& op);

/// True if append() takes the parameter, a column or a scalar. Without identity it takes lift's parameters
/// too, because the first element of a run is lifted.
bool append_uses(const Operator& op, const Parameter& parameter);
/// The same of index, position or segment.
bool append_uses(const Operator& op, std::string_view place);

/// A parameter as lift() and append() take it: "float x", "const float* t".
std::string as_argument(const Parameter& parameter);

/// append(state, ...), whose statements are `body`; `present` is the flag of a state that may be absent.
std::string append_function(const Operator& op, const std::string& present, const std::string& body);

/// The columns of an element that append() takes, which may be loaded before the run is known: the struct,
/// load_element(inputs, index), and append_element(run, inputs, element, index, position, segment).
std::string element_struct(const Operator& op);
std::string load_element_function(const Operator& op);
std::string append_element_function(const Operator& op);

}  // namespace segfold
