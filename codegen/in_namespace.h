#pragma once
// Wraps emitted texts in namespaces, so that several fit into one program.
#include <string>
#include <string_view>

namespace segfold {

/// Wraps all of the text except its leading comment in `namespace name { }`, such as "ours::sums".
///
/// Kernels, and functions that a native text exports, then have C++ linkage, so that the linker too can tell
/// equal names of several texts apart.
std::string in_namespace(std::string_view source, std::string_view name);

/// True if a text may be wrapped in a namespace of this name: words between "::". Each word has letters,
/// digits and underscores, and begins with a letter. It must not be a word of C++ or CUDA, a name in a text's
/// vocabulary, a function of the language, or all capitals, as macros are.
bool is_namespace(std::string_view name);

}  // namespace segfold
