#pragma once
// Single values as text, in the precision of their own type.
#include <string>

#include "runtime/judge/reference.h"

namespace segfold {

/// Returns element `i` of an array as the shortest text that reads back as the same value. The text of a bool
/// is "true" or "false".
std::string value_text(const Array& array, std::int64_t i);

/// Returns a wide value, rounded to `type`, as text.
std::string value_text(Type type, const WideValue& value);

}  // namespace segfold
