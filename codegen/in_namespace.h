#pragma once
// Wraps emitted texts in namespaces, so that several fit into one program.
#include <string>
#include <string_view>

namespace segfold {

/// Wraps all of the text except the comment at its head in `namespace name { }`, such as "ours::sums".
///
/// Kernels, and functions that a native text exports, then have C++ linkage. Equal names in several texts
/// thus differ for the linker too.
std::string in_namespace(std::string_view source, std::string_view name);

/// True if a text may be wrapped in a namespace of this name. The name consists of words between "::". Each
/// word has letters, digits and underscores, and begins with a letter. It must be no word of C++ or CUDA, no
/// name of a text's vocabulary, no function of the language, and not all capitals, as macros are.
bool is_namespace(std::string_view name);

}  // namespace segfold
