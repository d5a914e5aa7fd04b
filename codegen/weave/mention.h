#pragma once
// The names that an emitted text mentions, and the pieces of the operator's section that define them.
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// Hashes words wherever they stand, so that looking one up copies nothing.
struct WordHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};

/// The identifiers of a text.
using Identifiers = std::unordered_set<std::string, WordHash, std::equal_to<>>;

/// True for letters, digits and the underscore.
bool is_word(char c);

/// Adds every identifier of `text` to `words`; comments do not count.
void add_words(std::string_view text, Identifiers& words);

/// The same in a set of their own.
Identifiers words_of(std::string_view text);

/// Adds every identifier that stands outside of all braces, parentheses and brackets of C++ `text`, those of
/// `extern "C" { }` and namespaces excepted: what is declared there, and the types it is declared with.
/// Comments and lines that begin with `#` do not count.
void add_file_scope_words(std::string_view text, Identifiers& words);

/// The pieces that a text of these words mentions, directly or through each other, as text in groups.
std::string keep_mentioned(const std::vector<Piece>& pieces, Identifiers words);

}  // namespace segfold
