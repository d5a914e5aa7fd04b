#pragma once
// Reads operators from files.
#include <cstddef>
#include <optional>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Most bytes in the text of an operator.
constexpr std::size_t kMostOperatorBytes = std::size_t{1} << 20;

/// Reads the text of an operator from a file. Throws InputError if the file cannot be read or is too long.
std::string read_operator_text(const std::string& path);

/// Reads the operator in a file. Messages name path, line and column. The type name `T` in the text stands
/// for `generic`. Throws InputError if the file cannot be read, and SpecError if the text is invalid.
Operator read_operator(const std::string& path, std::optional<Type> generic = {});

}  // namespace segfold
