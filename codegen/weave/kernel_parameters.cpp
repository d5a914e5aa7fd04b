#include "codegen/weave/kernel_parameters.h"

#include <algorithm>

#include "codegen/weave/mention.h"
#include "dsl/error.h"

namespace segfold {
namespace {

/// True if `mark` begins a declaration whose name stands at `at`.
bool is_kernel(std::string_view body, std::size_t at, std::string_view mark)
{
    const auto global = body.rfind(mark, at);
    return global != std::string_view::npos && !is_word(body[at - 1]) &&
           body.substr(global, at - global).find_first_of(";{}") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> kernel_parameters(const std::string& kernel, std::string_view body,
                                           const std::string& file, Dialect dialect)
{
    const std::string_view mark = dialect == Dialect::native ? "extern \"C\" void" : "__global__";
    auto at = body.find(kernel + "(");
    while (at != std::string_view::npos && !is_kernel(body, at, mark))
        at = body.find(kernel + "(", at + 1);
    if (at == std::string_view::npos)
        throw SpecError(file + ": launches '" + kernel + "', but has no such kernel");
    const auto open = at + kernel.size();
    const auto close = std::min(body.find(')', open), body.size());
    std::vector<std::string> names;
    std::string_view list = body.substr(open + 1, close - open - 1);
    while (!list.empty()) {
        const auto comma = list.find(',');
        auto item = list.substr(0, comma);
        while (!item.empty() && !is_word(item.back()))
            item.remove_suffix(1);
        auto first = item.size();
        while (first > 0 && is_word(item[first - 1]))
            --first;
        names.emplace_back(item.substr(first));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    if (dialect == Dialect::native && !names.empty())
        names.erase(names.begin());
    return names;
}

}  // namespace segfold
