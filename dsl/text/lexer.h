#pragma once
// Cuts text into tokens.
#include <string>
#include <vector>

#include "dsl/message/source.h"

namespace segfold {

enum class TokenKind { word, integer, real, symbol, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;
    Position position;
};

/// Longest text that is accepted, in bytes.
inline constexpr std::size_t kLongestText = 1 << 20;

/// The tokens of a text, and the comment lines just above its first token.
struct Tokens {
    std::vector<Token> tokens;  ///< the last one is `end`
    std::string heading;        ///< comment lines before the first token, without marks, joined by '\n'
};

/// Cuts `source` into tokens. `#` starts a comment that runs to the end of its line.
///
/// Throws SpecError for characters and numbers that are not in the language, for texts of more than `longest`
/// bytes, and for control characters, lone carriage returns and invalid UTF-8 in comments.
Tokens tokenize(const SourcePointer& source, std::size_t longest = kLongestText);

}  // namespace segfold
