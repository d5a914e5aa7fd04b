#include "codegen/weave/comment.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/weave/line_break.h"
#include "dsl/error.h"
#include "dsl/message/visible.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"

namespace segfold {
namespace {

constexpr std::string_view kCommentMark = "// ";

std::string_view without_trailing_blanks(std::string_view line)
{
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

/// True if a compiler may join the next line to this one. Some compilers ignore blanks after a backslash, and
/// `??/` is a backslash in old dialects.
bool continues(std::string_view line)
{
    const auto end = without_trailing_blanks(line);
    return end.ends_with('\\') || end.ends_with("?\?/");
}

std::string comment_line(std::string_view line)
{
    std::string text(without_trailing_blanks(line));
    std::ranges::replace(text, '\t', ' ');
    text = visible(text);
    if (continues(text))
        text.replace(text.size() - 1, 1, text.back() == '\\' ? "\\x5c" : "\\x2f");
    return text.empty() ? "//\n" : fmt::format("{}{}\n", kCommentMark, text);
}

/// Finds the comments of a text in their order.
class CommentReader {
public:
    explicit CommentReader(std::string_view source) : source_(source) {}

    /// Returns the next comment with its marks, and empty text at the end. A `//` comment is returned without
    /// its newline.
    std::string_view next()
    {
        // Skips to the next character that may begin a comment or a quotation. This must be fast, because it
        // runs on the text of every plan.
        const auto is_of_interest = [](char c) { return c == '/' || c == '"' || c == '\''; };
        for (;;) {
            const auto* const end = source_.data() + source_.size();
            at_ = static_cast<std::size_t>(std::find_if(source_.data() + at_, end, is_of_interest) -
                                           source_.data());
            const auto rest = source_.substr(at_);
            if (rest.empty())
                return {};
            if (rest.starts_with("//"))
                return take(rest.find('\n'));
            if (rest.starts_with("/*")) {
                const auto close = rest.find("*/", 2);
                return take(close == std::string_view::npos ? close : close + 2);
            }
            at_ += rest.front() == '/' ? 1 : quoted(rest);
        }
    }

    /// Index at which the last comment began.
    [[nodiscard]] std::size_t begin() const { return begin_; }

private:
    std::string_view take(std::size_t length)
    {
        begin_ = at_;
        const auto comment = source_.substr(at_, length);
        at_ += comment.size();
        return comment;
    }

    /// Returns the length of the quotation at the beginning of `text`. Returns 1 if the quotation is not
    /// closed on its line, as in `1'000`.
    static std::size_t quoted(std::string_view text)
    {
        for (std::size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
            if (text[i] == text[0])
                return i + 1;
            if (text[i] == '\\')
                ++i;
        }
        return 1;
    }

    std::string_view source_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
};

/// Returns the number of bytes of the character at `at` if a comment must not contain this character;
/// otherwise 0.
std::size_t forbidden_length(std::string_view source, std::size_t at)
{
    const char c = source[at];
    if ((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t')
        return 0;
    if (c == '\r' && (at + 1 == source.size() || source[at + 1] == '\n'))
        return 0;
    return unshown_length(source.substr(at));
}

/// Describes a part of the comment that a compiler may read differently from a person; empty if there is
/// none.
std::string fault_of(std::string_view source, std::size_t begin, std::string_view comment)
{
    for (std::size_t i = 0; i < comment.size();) {
        if (const auto length = forbidden_length(source, begin + i); length > 0)
            return fmt::format("holds '{}', which is not shown", visible(comment.substr(i, length)));
        i += std::max<std::size_t>(utf8_length(comment.substr(i)), 1);
    }
    if (comment.starts_with("//") && continues(comment))
        return "ends with a backslash, which makes the next line a part of it";
    return "";
}

/// Returns the operator's text from the comment at the top of `source`, without comment marks; empty if there
/// is none.
///
/// The operator's first line begins with `operator `. If several lines do, the last one counts, because lines
/// of the description above may begin in the same way.
std::string shown_operator(std::string_view source)
{
    std::string text;
    bool is_inside = false;
    while (source.starts_with("//")) {
        const auto line = take_line(source);
        const auto shown = line.substr(std::min(line.size(), kCommentMark.size()));
        if (shown.starts_with("operator ")) {
            text.clear();
            is_inside = true;
        }
        if (is_inside)
            text.append(shown).append("\n");
        is_inside = is_inside && shown != "}";
    }
    return text;
}

/// Returns a description of the first line in which two texts differ.
std::string difference(std::string_view meant, std::string_view read)
{
    while (!meant.empty() || !read.empty()) {
        const auto left = take_line(meant);
        const auto right = take_line(read);
        if (left != right)
            return fmt::format("'{}' is meant and '{}' is read", visible(left), visible(right));
    }
    return "it prints alike";
}

}  // namespace

std::string comment_lines(std::string_view text)
{
    std::string result;
    while (!text.empty())
        result += comment_line(take_line(text));
    return result;
}

std::string operator_comment(const Operator& op)
{
    const auto source = break_lines(print(op), kWidestLine - kCommentMark.size());
    std::string text;
    for (std::string_view rest = source; !rest.empty();) {
        const auto line = take_line(rest);
        text += comment_line(line.starts_with("# ") ? line.substr(2) : line);
    }
    return text;
}

std::string without_comments(std::string_view source)
{
    std::string result(source);
    CommentReader reader(source);
    for (auto comment = reader.next(); !comment.empty(); comment = reader.next())
        for (std::size_t i = 0; i < comment.size(); ++i)
            if (comment[i] != '\n')
                result[reader.begin() + i] = ' ';
    return result;
}

std::optional<CommentFault> find_comment_fault(std::string_view source)
{
    CommentReader reader(source);
    for (auto comment = reader.next(); !comment.empty(); comment = reader.next())
        if (auto what = fault_of(source, reader.begin(), comment); !what.empty()) {
            const auto above = source.substr(0, reader.begin());
            return CommentFault{1 + static_cast<int>(std::ranges::count(above, '\n')), std::move(what)};
        }
    return std::nullopt;
}

void check_comments(std::string_view source)
{
    if (const auto fault = find_comment_fault(source))
        throw InternalError(
            fmt::format("line {} of the emitted text: the comment {}", fault->line, fault->what));
}

void check_emitted(std::string_view source, const Operator& op)
{
    check_comments(source);
    const auto shown = shown_operator(source);
    const auto fail = [&](const std::string& why) {
        throw InternalError(
            fmt::format("the emitted text of operator {} does not show it: {}", visible(op.name), why));
    };
    if (shown.empty())
        fail("its heading has no operator");
    try {
        const auto read = parse_printed(shown);
        if (same(read, op))
            return;
        auto meant = op;
        meant.description = read.description;
        fail(difference(print(meant), print(read)));
    } catch (const SpecError& error) {
        fail(fmt::format("it does not read back: {}", error.what()));
    }
}

}  // namespace segfold
