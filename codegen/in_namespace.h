#pragma once
// Wraps emitted texts in namespaces, so that several fit into one program.
#include <string>
#include <string_view>

namespace segfold {

/// Returns `source` with everything below its leading comment wrapped in `namespace name { }`. The name is,
/// for example, "ours::sums".
///
/// Removes `extern "C"` from kernels and from functions that a native text exports. The linker can then tell
/// apart kernels of the same name in several texts.
std::string in_namespace(std::string_view source, std::string_view name);

/// True if in_namespace() accepts `name`, which is one word or several words joined by "::". Each word has
/// letters, digits and underscores, and begins with a letter. A word must not be a keyword of C++ or CUDA, a
/// name that emitted texts use, a function of the language, or in capitals only, like macros.
bool is_namespace(std::string_view name);

}  // namespace segfold
