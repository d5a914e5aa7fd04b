#pragma once
// Converts single values to text in the precision of their type.
#include <string>

#include "runtime/judge/reference.h"

namespace segfold {

/// Returns element `i` of an array as the shortest text that reads back as the same value. A bool gives
/// "true" or "false".
std::string value_text(const Array& array, std::int64_t i);

/// Rounds a wide value to `type` and returns it as text.
std::string value_text(Type type, const WideValue& value);

}  // namespace segfold
