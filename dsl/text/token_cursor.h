#pragma once
// The tokens of a text and the current position among them, shared by all productions of the grammar.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/message/complaints.h"
#include "dsl/text/lexer.h"

namespace segfold {

/// The words that begin the parts of an operator.
inline constexpr std::array<std::string_view, 9> kParts = {"state", "lift", "combine", "append", "finish",
                                                           "empty", "map",  "scan",    "laws"};

/// True for a word of kParts. Elsewhere in the text such a word may be a name.
inline bool is_part(const Token& token) { return std::ranges::find(kParts, token.text) != kParts.end(); }

/// Reads tokens in order. Every fault is thrown as a PlacedError at its token.
class TokenCursor {
public:
    TokenCursor(SourcePointer source, std::vector<Token> tokens)
        : source_(std::move(source)), tokens_(std::move(tokens))
    {}

    [[nodiscard]] const SourcePointer& source() const { return source_; }
    /// Returns the token `ahead` places after the next one. Past the end, returns the last token.
    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
    [[nodiscard]] bool at_end() const { return peek().kind == TokenKind::end; }
    [[nodiscard]] bool is(std::string_view text, std::size_t ahead = 0) const;
    /// Number of tokens read.
    [[nodiscard]] std::size_t place() const { return at_; }
    /// Goes back to a token number that place() returned, to read tokens again.
    void go_back(std::size_t place) { at_ = place; }
    /// True if a part begins here: a word of kParts, or `def NAME (` or `use NAME`. Elsewhere `def` and `use`
    /// may be names.
    [[nodiscard]] bool at_part(std::size_t ahead = 0) const;
    /// True if the next token is the first of its line.
    [[nodiscard]] bool begins_line() const;
    [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }

    /// Reads a token. At the end it returns the last token again.
    const Token& take();
    bool accept(std::string_view text);
    void expect(std::string_view text);
    void expect_word(std::string_view word);
    void expect_end() const;
    /// Reads a word. `what` names the expected word in messages.
    std::string name(const std::string& what);

    [[noreturn]] void fail(Position position, const std::string& message, const std::string& hint = {}) const;
    /// Throws a fault that says that `what` was expected here. If the next token is a known slip, adds
    /// advice.
    [[noreturn]] void unexpected(const std::string& what) const;
    /// Describes the next token in messages: "'x'" or "the end of the text".
    [[nodiscard]] std::string found() const;

private:
    SourcePointer source_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
};

/// Quotes a word or number. Shows only the beginning of a long word.
std::string quoted(const std::string& text);

}  // namespace segfold
