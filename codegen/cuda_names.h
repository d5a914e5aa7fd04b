#pragma once
// Names in CUDA text: of the language's types, and of what users named.
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// How CUDA text calls a type; the names that need a `using` line or a part are those of the language.
std::string cuda_name(Type type);

/// A user's name as it may stand in CUDA text: with an underscore behind it where C++, CUDA, the vocabulary
/// of kernels/ or a function that expressions call has taken the name. Different names stay different.
std::string cuda_identifier(std::string_view name);

}  // namespace segfold
