#include "codegen/in_namespace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>

#include "codegen/print/cuda_names.h"
#include "dsl/expression.h"

namespace segfold {
namespace {

bool is_scope_name(std::string_view word)
{
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
    const auto may_follow = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (word.empty() || !is_letter(word.front()) || !std::ranges::all_of(word, may_follow))
        return false;
    // The rejected words below are macros or global names. The compiler reports clashes with names in the
    // user's program.
    const bool is_macro = std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
    constexpr std::string_view libraries[] = {"std", "cuda", "thrust", "cub"};
    if (is_macro || word.find("__") != word.npos || find_function(word) ||
        std::ranges::find(libraries, word) != std::end(libraries))
        return false;
    // cuda_identifier() changes every name with a leading capital, but such names may be namespaces.
    return std::isupper(static_cast<unsigned char>(word.front())) != 0 || cuda_identifier(word) == word;
}

}  // namespace

std::string in_namespace(std::string_view source, std::string_view name)
{
    constexpr std::string_view kLinkage = "extern \"C\" ";
    std::string text;
    bool is_open = false;
    std::ptrdiff_t open_parameters = 0;  // open parentheses after a function whose linkage was removed
    while (!source.empty()) {
        auto line = source.substr(0, std::min(source.find('\n'), source.size() - 1) + 1);
        source.remove_prefix(line.size());
        if (!is_open && !line.starts_with("//")) {
            is_open = true;
            text += fmt::format("\nnamespace {} {{\n", name);
        }
        // Shifts the lines of parameters to the left as well, so that they stay aligned with the opening
        // parenthesis.
        if (line.starts_with(kLinkage) || open_parameters > 0) {
            const auto spaces = std::min(line.find_first_not_of(' '), line.size());
            line.remove_prefix(open_parameters > 0 ? std::min(kLinkage.size(), spaces) : kLinkage.size());
            open_parameters += std::ranges::count(line, '(') - std::ranges::count(line, ')');
        }
        text += line;
    }
    return text + fmt::format("\n}}  // namespace {}\n", name);
}

bool is_namespace(std::string_view name)
{
    while (true) {
        const auto end = name.find("::");
        if (!is_scope_name(name.substr(0, end)))
            return false;
        if (end == name.npos)
            return true;
        name.remove_prefix(end + 2);
    }
}

}  // namespace segfold
