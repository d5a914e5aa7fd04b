#include "codegen/weave/line_map.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace segfold
