#include "dsl/text/token_cursor.h"

#include "dsl/message/slips.h"
#include "dsl/message/suggest.h"
#include "dsl/text/token_slips.h"

namespace segfold {

std::string quoted(const std::string& text)
{
    constexpr std::size_t longest = 64;
    return "'" + (text.size() > longest ? text.substr(0, longest) + "..." : text) + "'";
}

const Token& TokenCursor::peek(std::size_t ahead) const
{
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool TokenCursor::is(std::string_view text, std::size_t ahead) const
{
    return peek(ahead).text == text && peek(ahead).kind != TokenKind::end;
}

bool TokenCursor::at_part(std::size_t ahead) const
{
    const bool named = peek(ahead + 1).kind == TokenKind::word;
    return is_part(peek(ahead)) || (named && is("def", ahead) && is("(", ahead + 2)) ||
           (named && is("use", ahead) && !is(":", ahead + 1));
}

bool TokenCursor::begins_line() const
{
    return at_ == 0 || tokens_[at_ - 1].position.line != peek().position.line;
}

const Token& TokenCursor::take()
{
    const Token& token = peek();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
}

bool TokenCursor::accept(std::string_view text)
{
    if (!is(text))
        return false;
    ++at_;
    return true;
}

std::string TokenCursor::found() const { return at_end() ? "the end of the text" : quoted(peek().text); }

void TokenCursor::fail(Position position, const std::string& message, const std::string& hint) const
{
    throw placed_error(source_, position, message, hint);
}

void TokenCursor::unexpected(const std::string& what) const
{
    fail(peek().position, "expected " + what + ", found " + found(), advice_at(tokens_, at_));
}

void TokenCursor::expect(std::string_view text)
{
    if (!accept(text))
        unexpected("'" + std::string(text) + "'");
}

void TokenCursor::expect_word(std::string_view word)
{
    const std::array known = {word};
    if (!accept(word))
        fail(peek().position,
             "expected '" + std::string(word) + "', found " + found() +
                 (peek().kind == TokenKind::word ? did_you_mean(peek().text, known) : ""),
             advice_on_word(peek().text));
}

void TokenCursor::expect_end() const
{
    if (!at_end())
        unexpected("the end of the text");
}

std::string TokenCursor::name(const std::string& what)
{
    if (peek().kind != TokenKind::word)
        unexpected(what);
    return take().text;
}

}  // namespace segfold
