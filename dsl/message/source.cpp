#include "dsl/message/source.h"

#include <algorithm>

#include "dsl/message/visible.h"

namespace segfold {
namespace {

constexpr std::size_t kWidestExcerpt = 100;  ///< bytes of a source line that a message shows

/// Returns line `number` of `text`, counted from 1, without its line end ("\n" or "\r\n").
std::string_view find_line(std::string_view text, int number)
{
    for (int line = 1; line < number; ++line) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos)
            return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (text.ends_with('\r'))
        text.remove_suffix(1);
    return text;
}

/// Returns a source line as a terminal shows it: tabs as blanks, other control characters as escapes.
std::string printable(std::string_view text)
{
    std::string result(text);
    std::ranges::replace(result, '\t', ' ');
    return visible(result);
}

/// The part [first, end) of a long line that a message shows. Neither end splits a character.
struct Excerpt {
    std::size_t first, end;
};

Excerpt find_excerpt(std::string_view line, std::size_t caret)
{
    const auto continues = [&](std::size_t i) { return i < line.size() && (line[i] & 0xc0) == 0x80; };
    std::size_t first = 0;
    if (line.size() > kWidestExcerpt && caret > kWidestExcerpt / 2)
        first = std::min(caret - kWidestExcerpt / 2, line.size() - kWidestExcerpt);
    std::size_t end = std::min(first + kWidestExcerpt, line.size());
    for (int i = 0; i < 3 && first > 0 && continues(first); ++i)
        ++first;
    for (int i = 0; i < 3 && continues(end); ++i)
        --end;
    return {first, end};
}

/// Returns the number of characters in `printable(text)`.
std::size_t width(std::string_view text)
{
    const auto shown = printable(text);
    return static_cast<std::size_t>(
        std::ranges::count_if(shown, [](unsigned char c) { return (c & 0xc0u) != 0x80u; }));
}

}  // namespace

std::size_t utf8_length(std::string_view text)
{
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const unsigned first = byte(0);
    if (first < 0x80)
        return text.empty() ? 0 : 1;
    const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0u) != 0x80u)
            return 0;
    // Overlong forms, surrogates and code points beyond U+10FFFF are no UTF-8.
    const bool wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
    return wrong ? 0 : length;
}

SpecError spec_error(const SourcePointer& source, Position position, const std::string& message,
                     const std::string& hint)
{
    if (position.file != nullptr || !source || position.line == 0) {
        const auto place = position.file == nullptr
                               ? std::string()
                               : visible(position.file) + ":" + std::to_string(position.line) + ": ";
        return SpecError(place + (hint.empty() ? message : message + "; " + hint));
    }

    const std::string_view line = find_line(source->text, position.line);
    const std::size_t place =
        std::min(static_cast<std::size_t>(std::max(position.column - 1, 0)), line.size());
    const auto [first, end] = find_excerpt(line, place);
    const std::string_view shown = line.substr(first, end - first);
    const std::size_t caret = place - first;

    const std::size_t length = static_cast<std::size_t>(std::max(position.length, 1));
    const std::size_t carets = std::max<std::size_t>(width(shown.substr(caret, length)), 1);
    std::string text = visible(source->name) + ":" + std::to_string(position.line) + ":" +
                       std::to_string(position.column) + ": " + message;
    text += "\n    " + printable(shown);
    text += "\n    " + std::string(width(shown.substr(0, caret)), ' ') + std::string(carets, '^');
    if (!hint.empty())
        text += "  " + hint;
    return SpecError(text);
}

}  // namespace segfold
