#pragma once
// Text cut into tokens.
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

/// Longest text that is read, in bytes.
inline constexpr std::size_t kLongestText = 1 << 20;

/// The text's tokens and the comments that stand alone on the lines just above the first of them.
struct Tokens {
    std::vector<Token> tokens;  ///< the last one is `end`
    std::string heading;        ///< comment lines before the first token, without marks, joined by '\n'
};

/// Cuts `source` into tokens; `#` starts a comment that runs to the end of its line.
///
/// Throws SpecError for a character or a number that the language does not have, for a control character, a
/// lone carriage return or a byte that is no UTF-8 in a comment, and for a text longer than `longest`.
Tokens tokenize(const SourcePointer& source, std::size_t longest = kLongestText);

}  // namespace segfold
