#pragma once
// Names in CUDA text: of the language's types, and of what users named.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/type.h"

namespace segfold {

/// How CUDA text calls a type; the names that need a `using` line or a part are those of the language.
std::string cuda_name(Type type);

/// A user's name as it may stand in CUDA text. Different names stay different.
///
/// What begins with an underscore or a capital gets an `own` in front: so begin macros, what C++ keeps for
/// itself, and the types of kernels/. Where C++, CUDA, a file of kernels/, what codegen writes around an
/// operator, or a header that peers include has taken a name that begins with a small letter, it gets an
/// underscore behind it.
std::string cuda_identifier(std::string_view name);

/// The names that cuda_identifier() changes because somebody has taken them, in order; those that its rules
/// name by how they begin or end come on top.
std::vector<std::string> taken_identifiers();

}  // namespace segfold
