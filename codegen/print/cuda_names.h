#pragma once
// Names in CUDA text for the language's types and the user's variables.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/type.h"

namespace segfold {

/// Name of a type in CUDA text: a type of C++, such as "float", or the language's name if the text defines
/// it.
std::string cuda_name(Type type);

/// A user's name in the form for CUDA text. Different names stay different.
///
/// A name that begins with an underscore or a capital gets the prefix `own`, because macros, reserved names
/// of C++ and the types of kernels/ begin with one. Any other name gets an underscore at its end if it is
/// already used by C++, CUDA, a file of kernels/, the text around an operator or a header that peers include.
std::string cuda_identifier(std::string_view name);

/// The names that cuda_identifier() changes because they are in use, sorted. Names that change for their
/// first or last letter are not listed.
std::vector<std::string> taken_identifiers();

}  // namespace segfold
