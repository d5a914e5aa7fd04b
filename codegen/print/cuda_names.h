#pragma once
// Names in CUDA text: names of the language's types, and names that users chose.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/type.h"

namespace segfold {

/// Name of a type in CUDA text. It is the language's own name if the text defines that by `using` or a part.
std::string cuda_name(Type type);

/// A user's name in the form for CUDA text. Different names stay different.
///
/// A name that begins with an underscore or a capital gets the prefix `own`, because macros, reserved names
/// of C++ and the types of kernels/ begin so. Other names get an underscore at the end if they are in use: by
/// C++, CUDA, a file of kernels/, the text around an operator, or a header that peers include.
std::string cuda_identifier(std::string_view name);

/// The names that cuda_identifier() changes because they are in use, in order. Names that it changes because
/// of their first or last letters are not listed.
std::vector<std::string> taken_identifiers();

}  // namespace segfold
