#pragma once
// Gives the names that CUDA text uses for the language's types and the user's variables.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/type.h"

namespace segfold {

/// Returns the name of a type in CUDA text: a type of C++, such as "float", or the language's own name, such
/// as "f16", if the text defines the type.
std::string cuda_name(Type type);

/// Returns the name that CUDA text uses for a user's name. Different names stay different.
///
/// A name that begins with an underscore or a capital gets the prefix `own`, because macros, reserved names
/// of C++ and the types of kernels/ begin like this. Any other name gets an underscore at its end if C++,
/// CUDA, a file of kernels/, the text around an operator or a header that peers include already uses it.
std::string cuda_identifier(std::string_view name);

/// Returns the names that cuda_identifier() changes because they are in use, sorted. Omits names that it
/// changes because of their first or last letter.
std::vector<std::string> taken_identifiers();

}  // namespace segfold
