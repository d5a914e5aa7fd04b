#include "dsl/text/lexer.h"

#include <algorithm>

#include "dsl/message/visible.h"
#include "dsl/operator.h"

namespace segfold {
namespace {

/// Longer symbols come first, so that "<<" is not read as two "<".
constexpr std::string_view kSymbols[] = {"..", "->", "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "+", "-",
                                         "*",  "/",  "%",  "<",  ">",  "=",  "!",  "~",  "&",  "|",  "^", "?",
                                         ":",  ";",  ",",  ".",  "(",  ")",  "[",  "]",  "{",  "}"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
public:
    explicit Lexer(const SourcePointer& source) : source_(source), text_(source->text) {}

    Tokens run(std::size_t longest)
    {
        if (text_.size() > longest)
            throw SpecError(visible(source_->name) + ": the text is " + std::to_string(text_.size()) +
                            " bytes long; at most " + std::to_string(longest) + " are read");
        if (text_.starts_with("\xEF\xBB\xBF"))  // skips a byte order mark, which some editors write
            line_start_ = at_ = 3;
        for (skip_blanks(); at_ < text_.size(); skip_blanks())
            result_.tokens.push_back(next());
        result_.tokens.push_back({TokenKind::end, "", position(0)});
        return std::move(result_);
    }

private:
    [[nodiscard]] Position position(std::size_t length) const
    {
        return {line_, static_cast<int>(at_ - line_start_) + 1, std::max(static_cast<int>(length), 1)};
    }

    void skip_blanks()
    {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\n') {
                ++at_;
                ++line_;
                line_start_ = at_;
            } else if (c == ' ' || c == '\t' || ends_line(at_)) {
                ++at_;
            } else if (c == '#') {
                skip_comment();
            } else {
                return;
            }
        }
    }

    /// True for a carriage return before a newline or the end of the text.
    [[nodiscard]] bool ends_line(std::size_t at) const
    {
        return text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n');
    }

    /// Skips a comment. Refuses control characters, because they might end the comment for a compiler or hide
    /// text from readers.
    void skip_comment()
    {
        const std::size_t begin = at_ + 1;
        while (at_ < text_.size() && text_[at_] != '\n') {
            const char c = text_[at_];
            const bool is_plain = (c >= 0x20 && c < 0x7f) || c == '\t' || ends_line(at_);
            if (!is_plain && unshown_length(text_.substr(at_)) > 0)
                unshown();
            at_ += is_plain ? 1 : utf8_length(text_.substr(at_));
        }
        if (result_.tokens.empty())
            add_heading(text_.substr(begin, at_ - begin));
    }

    [[noreturn]] void unshown() const
    {
        if (text_[at_] == '\r')
            throw spec_error(source_, position(1), "a carriage return that no newline follows",
                             "lines end with a newline, or with a carriage return and a newline");
        const auto rest = text_.substr(at_);
        const std::size_t length = unshown_length(rest);
        const bool is_text = utf8_length(rest) > 0;
        throw spec_error(source_, position(length),
                         std::string(is_text ? "the control character '" : "the byte '") +
                             visible(rest.substr(0, length)) + "' in a comment",
                         "comments are UTF-8 and hold what can be seen, blanks and tabs");
    }

    void add_heading(std::string_view line)
    {
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
            line.remove_prefix(1);
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
            line.remove_suffix(1);
        if (!result_.heading.empty())
            result_.heading += '\n';
        result_.heading += line;
    }

    Token take(TokenKind kind, std::size_t length)
    {
        Token token{kind, std::string(text_.substr(at_, length)), position(length)};
        at_ += length;
        return token;
    }

    Token next()
    {
        const char c = text_[at_];
        if (is_letter(c))
            return word();
        if (is_digit(c))
            return number();
        for (const auto symbol : kSymbols)
            if (symbol[0] == c && text_.substr(at_).starts_with(symbol) &&
                !(symbol == ".." && text_.substr(at_).starts_with("...")))
                return take(TokenKind::symbol, symbol.size());
        unexpected();
    }

    [[noreturn]] void unexpected() const
    {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        const std::size_t length = utf8_length(text_.substr(at_));
        if (byte == '\r')
            unshown();
        if (length > 1)
            throw spec_error(source_, position(length),
                             "unexpected '" + visible(text_.substr(at_, length)) + "'",
                             "only comments may hold more than ASCII");
        const bool is_shown = byte >= 0x20 && byte < 0x7f;
        throw spec_error(source_, position(1),
                         "unexpected " + (is_shown ? "'" + std::string(1, text_[at_]) + "'"
                                                   : "byte " + std::to_string(byte)));
    }

    Token word()
    {
        std::size_t length = 1;
        while (at_ + length < text_.size() &&
               (is_letter(text_[at_ + length]) || is_digit(text_[at_ + length])))
            ++length;
        if (length > kLongestName)
            throw spec_error(source_, position(length),
                             "a name of " + std::to_string(length) + " letters; names have at most " +
                                 std::to_string(kLongestName));
        return take(TokenKind::word, length);
    }

    /// number ::= digits | "0x" hex | digits "." [digits] [exponent] | digits exponent
    Token number()
    {
        const auto peek = [&](std::size_t i) { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; };
        std::size_t n = 0;
        TokenKind kind = TokenKind::integer;
        if (peek(0) == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hex(peek(2))) {
            for (n = 2; is_hex(peek(n));)
                ++n;
        } else {
            while (is_digit(peek(n)))
                ++n;
            if (peek(n) == '.' && peek(n + 1) == '.' && peek(n + 2) != '.')
                return take(kind, n);  // begins a range such as 0..8
            if (peek(n) == '.') {
                kind = TokenKind::real;
                for (++n; is_digit(peek(n));)
                    ++n;
            }
            const std::size_t sign = peek(n + 1) == '+' || peek(n + 1) == '-' ? 1 : 0;
            if ((peek(n) == 'e' || peek(n) == 'E') && is_digit(peek(n + 1 + sign))) {
                kind = TokenKind::real;
                for (n += 2 + sign; is_digit(peek(n));)
                    ++n;
            }
        }
        if (is_letter(peek(n)) || peek(n) == '.') {
            while (is_letter(peek(n)) || is_digit(peek(n)) || peek(n) == '.')
                ++n;
            throw spec_error(
                source_, position(n),
                "'" + std::string(text_.substr(at_, std::min<std::size_t>(n, 64))) + (n > 64 ? "..." : "") +
                    "' is not a number",
                "numbers are written 17, 0x1f, 0.5 or 1e-3, and take their type from the context");
        }
        return take(kind, n);
    }

    SourcePointer source_;
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_start_ = 0;
    int line_ = 1;
    Tokens result_;
};

}  // namespace

Tokens tokenize(const SourcePointer& source, std::size_t longest) { return Lexer(source).run(longest); }

}  // namespace segfold
