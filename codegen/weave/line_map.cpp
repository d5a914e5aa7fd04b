#include "codegen/weave/line_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace segfold {

void LineMap::add_generated(std::string_view text)
{
    const auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    origins_.insert(origins_.end(), count, Origin{-1, 0});
}

void LineMap::add(const std::string& file, const std::vector<int>& lines)
{
    files_.push_back(file);
    const auto place = static_cast<int>(files_.size()) - 1;
    for (const int line : lines)
        origins_.push_back({line == 0 ? -1 : place, line});
}

std::string LineMap::origin(int line) const
{
    if (line < 1 || static_cast<std::size_t>(line) > origins_.size())
        return "";
    const auto& origin = origins_[static_cast<std::size_t>(line) - 1];
    if (origin.file < 0)
        return "";
    return fmt::format("{}:{}", files_[static_cast<std::size_t>(origin.file)], origin.line);
}

namespace {

/// Returns the number at the beginning of `text`; 0 if there is none.
int leading_number(std::string_view text)
{
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Replaces the number in "   67 |     code" or "> 67 | code" by the line's number in its stage or part.
/// Keeps the width.
std::string renumbered(std::string_view line, const LineMap& lines)
{
    const auto begin = std::min(line.find_first_not_of(" >"), line.size());
    const auto end = std::min(line.find_first_not_of("0123456789", begin), line.size());
    const auto origin = lines.origin(leading_number(line.substr(begin)));
    if (begin == end || !line.substr(end).starts_with(" |") || origin.empty())
        return std::string(line);
    return fmt::format("{}{:>{}}{}", line.substr(0, line.starts_with('>') ? 1 : 0),
                       origin.substr(origin.rfind(':') + 1), end - (line.starts_with('>') ? 1 : 0),
                       line.substr(end));
}

/// Replaces positions in the emitted text, such as NAME:67, by their origins.
std::string replaced_places(std::string_view line, std::string_view text_name, const LineMap& lines)
{
    std::string result;
    while (true) {
        const auto at = line.find(text_name);
        const auto behind = at == line.npos ? line.size() : at + text_name.size();
        const auto mark = line.substr(behind, 1);
        const auto end = std::min(line.find_first_not_of("0123456789", behind + 1), line.size());
        std::string origin;
        if (mark == ":" || (mark == "(" && line.substr(end, 1) == ")"))
            origin = lines.origin(leading_number(line.substr(behind + 1)));
        result += line.substr(0, origin.empty() ? behind : at);
        result += origin;
        if (at == line.npos)
            return result;
        line.remove_prefix(origin.empty() ? behind : end + (mark == "(" ? 1 : 0));
    }
}

}  // namespace

std::string name_origins(std::string_view messages, std::string_view text_name, const LineMap& lines)
{
    std::string result;
    while (!messages.empty()) {
        const auto end = std::min(messages.find('\n'), messages.size());
        result += renumbered(replaced_places(messages.substr(0, end), text_name, lines), lines);
        if (end < messages.size())
            result += '\n';
        messages.remove_prefix(std::min(end + 1, messages.size()));
    }
    return result;
}

}  // namespace segfold
