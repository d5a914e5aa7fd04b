#pragma once
// Emitted texts that stand beside others in one program.
#include <string>
#include <string_view>

namespace segfold {

/// The text with all of it but the comment at its head in `namespace name { }`, e.g. "ours::sums".
///
/// Kernels, and the functions that a native text exports, have the linkage of C++ then, so that equal names
/// of several texts differ for the linker too.
std::string in_namespace(std::string_view source, std::string_view name);

/// True if a text can be put into a namespace of this name. It consists of words between "::", of letters,
/// digits and underscores. Each begins with a letter, has a small letter, and is no word of C++ or CUDA, no
/// name of a text's own vocabulary and no function of the language.
bool is_namespace(std::string_view name);

}  // namespace segfold
