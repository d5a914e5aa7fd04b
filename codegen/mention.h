#pragma once
// What an emitted text mentions, and the pieces of the operator's section that it needs for that.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/operator_section.h"

namespace segfold {

/// The identifiers of a text.
using Identifiers = std::set<std::string, std::less<>>;

/// True for letters, digits and the underscore.
bool is_word(char c);

/// Adds every identifier of `text` to `words`; comments do not count.
void add_words(std::string_view text, Identifiers& words);

/// The pieces that `below` mentions, directly or through each other, as text in groups.
std::string keep_mentioned(const std::vector<Piece>& pieces, std::string_view below);

/// The operator in the text form, each line a comment of at most kWidestLine letters.
std::string operator_comment(const Operator& op);

}  // namespace segfold
