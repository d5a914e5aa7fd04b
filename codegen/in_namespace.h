#pragma once
// Wraps emitted texts in namespaces, so that several fit into one program.
#include <string>
#include <string_view>

namespace segfold {

/// Wraps all of the text except its leading comment in `namespace name { }`, such as "ours::sums".
///
/// Kernels, and functions that a native text exports, get C++ linkage, so that the linker can distinguish
/// equal names in several texts.
std::string in_namespace(std::string_view source, std::string_view name);

/// True if in_namespace() accepts `name`, which is one word or several words joined by "::". Each word has
/// letters, digits and underscores, and begins with a letter. A word must not be a word of C++ or CUDA, a
/// name in a text's vocabulary, a function of the language, or in capitals only, like macros.
bool is_namespace(std::string_view name);

}  // namespace segfold
