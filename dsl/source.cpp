#include "dsl/source.h"

#include <algorithm>

namespace segfold {
namespace {

constexpr std::size_t kWidestExcerpt = 100;  ///< bytes of a source line that a message shows

/// Line `number` (from 1) of `text`, without its end.
std::string_view find_line(std::string_view text, int number)
{
    for (int line = 1; line < number; ++line) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos)
            return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find_first_of("\r\n"));
}

/// Tabs and control bytes become blanks, so that the caret stands under the right column.
std::string printable(std::string_view text)
{
    std::string result(text);
    std::replace_if(
        result.begin(), result.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return result;
}

}  // namespace

SpecError spec_error(const SourcePointer& source, Position position, const std::string& message,
                     const std::string& hint)
{
    if (!source || position.line == 0)
        return SpecError(hint.empty() ? message : message + "; " + hint);

    const std::string_view whole = find_line(source->text, position.line);
    std::size_t caret = static_cast<std::size_t>(std::max(position.column - 1, 0));
    std::size_t first = 0;
    if (whole.size() > kWidestExcerpt && caret > kWidestExcerpt / 2)
        first = std::min(caret - kWidestExcerpt / 2, whole.size() - std::min(whole.size(), kWidestExcerpt));
    const std::string_view shown =
        first < whole.size() ? whole.substr(first, kWidestExcerpt) : std::string_view();
    caret -= first;

    const std::size_t room = shown.size() > caret ? shown.size() - caret : 1;
    const std::size_t carets = std::clamp<std::size_t>(static_cast<std::size_t>(position.length), 1, room);
    std::string text = source->name + ":" + std::to_string(position.line) + ":" +
                       std::to_string(position.column) + ": " + message;
    text += "\n    " + printable(shown);
    text += "\n    " + std::string(caret, ' ') + std::string(carets, '^');
    if (!hint.empty())
        text += "  " + hint;
    return SpecError(text);
}

}  // namespace segfold
