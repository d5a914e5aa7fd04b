#pragma once
// Names in CUDA text: of the language's types, and of users.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/type.h"

namespace segfold {

/// The name of a type in CUDA text. Names that need a `using` line or a part are the language's own.
std::string cuda_name(Type type);

/// A user's name as it may stand in CUDA text. Different names stay different.
///
/// A name that begins with an underscore or a capital gets the prefix `own`: macros, reserved names of C++
/// and the types of kernels/ begin so. Another name gets an underscore at its end where C++, CUDA, a file of
/// kernels/, the text that codegen writes around an operator, or a header that peers include uses it.
std::string cuda_identifier(std::string_view name);

/// The names that cuda_identifier() changes because they are in use, in order. Names that it changes by how
/// they begin or end are not listed.
std::vector<std::string> taken_identifiers();

}  // namespace segfold
