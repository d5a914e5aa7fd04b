#pragma once
// Single values as text, in the precision of their own type.
#include <string>

#include "runtime/judge/reference.h"

namespace segfold {

/// Element `i` of an array: the shortest text that reads back as the same value; bools are true or false.
std::string value_text(const Array& array, std::int64_t i);

/// A wide value, rounded to `type` first.
std::string value_text(Type type, const WideValue& value);

}  // namespace segfold
