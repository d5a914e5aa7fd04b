#pragma once
// Operators in files.
#include <cstddef>
#include <optional>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Bytes that the text of an operator may have.
constexpr std::size_t kMostOperatorBytes = std::size_t{1} << 20;

/// The text of an operator in a file. Throws InputError where it cannot be read or has more than an operator
/// may.
std::string read_operator_text(const std::string& path);

/// Reads the operator in a file; messages name the path, line and column. `generic` is what the type name `T`
/// stands for. Throws InputError where the file cannot be read, SpecError where the text is wrong.
Operator read_operator(const std::string& path, std::optional<Type> generic = {});

}  // namespace segfold
