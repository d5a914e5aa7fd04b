#pragma once
// The tokens of a text and a place among them, shared by all productions of the grammar.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/message/complaints.h"
#include "dsl/text/lexer.h"

namespace segfold {

/// The words that the parts of an operator begin with.
inline constexpr std::array<std::string_view, 8> kParts = {"state",  "lift",  "combine", "append",
                                                           "finish", "empty", "map",     "laws"};

/// True for a word of kParts, which may be a name elsewhere.
inline bool is_part(const Token& token) { return std::ranges::find(kParts, token.text) != kParts.end(); }

/// Reads tokens one after the other; every complaint is a PlacedError at the token it is about.
class TokenCursor {
public:
    TokenCursor(SourcePointer source, std::vector<Token> tokens)
        : source_(std::move(source)), tokens_(std::move(tokens))
    {}

    [[nodiscard]] const SourcePointer& source() const { return source_; }
    /// The token `ahead` of the next one; the last one again beyond the end.
    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
    [[nodiscard]] bool at_end() const { return peek().kind == TokenKind::end; }
    [[nodiscard]] bool is(std::string_view text, std::size_t ahead = 0) const;
    /// How many tokens have been read.
    [[nodiscard]] std::size_t place() const { return at_; }
    /// Reads on from a place that was read before.
    void go_back(std::size_t place) { at_ = place; }
    /// True where a part begins: a word of kParts, or `def NAME (` or `use NAME`, whose words may be names
    /// elsewhere.
    [[nodiscard]] bool at_part(std::size_t ahead = 0) const;
    /// True if the next token is the first of its line.
    [[nodiscard]] bool begins_line() const;
    [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }

    /// Reads a token, but not beyond the end.
    const Token& take();
    bool accept(std::string_view text);
    void expect(std::string_view text);
    void expect_word(std::string_view word);
    void expect_end() const;
    /// Reads a word; messages call the wanted word `what`.
    std::string name(const std::string& what);

    [[noreturn]] void fail(Position position, const std::string& message, const std::string& hint = {}) const;
    /// Complains that the next token is not `what`, with advice where it is a known slip.
    [[noreturn]] void unexpected(const std::string& what) const;
    /// The next token for a message: "'x'" or "the end of the text".
    [[nodiscard]] std::string found() const;

private:
    SourcePointer source_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
};

/// A word or number in quotes; a message shows the beginning of a long one.
std::string quoted(const std::string& text);

}  // namespace segfold
