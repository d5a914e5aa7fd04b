#pragma once
// Finds the names in an emitted text, and the pieces of the operator's section that the text needs.
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// Hashes a string_view, so that a look-up copies no string.
struct WordHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};

/// The identifiers of a text.
using Identifiers = std::unordered_set<std::string, WordHash, std::equal_to<>>;

/// True for letters, digits and the underscore.
bool is_word(char c);

/// Adds every identifier of `text`, outside of comments, to `words`.
void add_words(std::string_view text, Identifiers& words);

/// Returns every identifier of `text`, outside of comments.
Identifiers words_of(std::string_view text);

/// Adds every identifier at file scope of C++ `text`, that is, declared names and the types in their
/// declarations. File scope is outside of all braces, parentheses and brackets, except the braces of `extern
/// "C" { }` and of namespaces. Ignores comments and lines that begin with `#`.
void add_file_scope_words(std::string_view text, Identifiers& words);

/// Returns the text of the pieces whose names are in `words`, and of all pieces that these need, directly or
/// through others. Blank lines separate the pieces, except within a series of aliases or of constants.
std::string keep_mentioned(const std::vector<Piece>& pieces, Identifiers words);

}  // namespace segfold
