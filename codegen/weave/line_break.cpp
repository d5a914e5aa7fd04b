#include "codegen/weave/line_break.h"

#include <algorithm>
#include <array>

namespace segfold {
namespace {

constexpr std::size_t kIndent = 4;

/// True if a line may end at `space`: before an operator or after a comma.
bool may_break(std::string_view line, std::size_t space)
{
    constexpr std::array<std::string_view, 12> before = {"? ", ": ",  "|| ", "&& ", "| ", "^ ",
                                                         "& ", "<< ", ">> ", "+ ",  "- ", "* "};
    if (line[space] != ' ' || space == 0)
        return false;
    const auto rest = line.substr(space + 1);
    return line[space - 1] == ',' ||
           std::ranges::any_of(before, [&](auto symbol) { return rest.starts_with(symbol); });
}

/// Returns the index of the blank at which to break the line. It is the last blank within `width` among the
/// blanks with the fewest open parentheses. If there is none within `width`, it is the first one beyond.
/// Returns npos if the line cannot be broken.
std::size_t find_break(std::string_view line, std::size_t width)
{
    std::size_t best = std::string_view::npos;
    int depth = 0;
    int best_depth = 0;
    const auto start = std::min(line.find_first_not_of(' '), line.size());
    for (std::size_t i = start; i < line.size(); ++i) {
        depth += line[i] == '(' || line[i] == '{' || line[i] == '[' ? 1 : 0;
        depth -= line[i] == ')' || line[i] == '}' || line[i] == ']' ? 1 : 0;
        if (i > width && best != std::string_view::npos)
            return best;
        if (may_break(line, i) && (best == std::string_view::npos || depth <= best_depth)) {
            best = i;
            best_depth = depth;
        }
    }
    return best;
}

}  // namespace

std::string break_lines(std::string_view text, std::size_t width)
{
    std::string result;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string line(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const bool comment = line.find("//") != std::string::npos;
        const auto indent = std::min(line.find_first_not_of(' '), line.size()) + kIndent;
        while (!comment && line.size() > width) {
            const auto at = find_break(line, width);
            if (at == std::string::npos)
                break;
            result += line.substr(0, at) + '\n';
            line = std::string(indent, ' ') + line.substr(at + 1);
        }
        result += line + '\n';
    }
    return result;
}

std::string_view take_line(std::string_view& text)
{
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

}  // namespace segfold
