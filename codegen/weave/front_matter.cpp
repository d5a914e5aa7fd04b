#include "codegen/weave/front_matter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "dsl/error.h"

namespace segfold {
namespace {

constexpr int kMostOfRange = 1024;

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::pair<std::string, std::string> split_assignment(const std::string& argument, const std::string& place)
{
    const auto equals = argument.find('=');
    if (equals == std::string::npos)
        throw SpecError(place + ": expected 'NAME = ...', found '" + argument + "'");
    return {std::string(trim(std::string_view(argument).substr(0, equals))),
            std::string(trim(std::string_view(argument).substr(equals + 1)))};
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> items;
    for (;;) {
        const auto end = text.find(separator);
        items.emplace_back(trim(text.substr(0, end)));
        if (end == std::string_view::npos)
            return items;
        text.remove_prefix(end + 1);
    }
}

Tunable read_tunable(const std::string& argument, const std::string& place)
{
    const auto [name, list] = split_assignment(argument, place);
    Tunable tunable{name, {}};
    const auto read = [&, &name = name](const std::string& item) {
        int value = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
        if (error != std::errc() || end != item.data() + item.size())
            throw SpecError(place + ": '" + item + "' is not a value for " + name + "; values are integers");
        return value;
    };
    for (const auto& item : split(list, ',')) {
        const auto dots = item.find("..");
        if (dots == std::string::npos) {
            tunable.values.push_back(read(item));
            continue;
        }
        const int first = read(item.substr(0, dots)), last = read(item.substr(dots + 2));
        if (last < first || std::int64_t{last} - first >= kMostOfRange)
            throw SpecError(fmt::format("{}: '{}' for {}; a range goes up, over {} values at most", place,
                                        item, name, kMostOfRange));
        for (int value = first; value <= last; ++value)
            tunable.values.push_back(value);
    }
    std::set<int> met;
    for (const int value : tunable.values)
        if (!met.insert(value).second)
            throw SpecError(fmt::format("{}: {} stands twice among the values of {}", place, value, name));
    return tunable;
}

void add_tunable(std::vector<Tunable>& tunables, Tunable tunable, const std::string& place)
{
    if (std::ranges::find(tunables, tunable.name, &Tunable::name) != tunables.end())
        throw SpecError(place + ": tunable '" + tunable.name + "' is declared twice");
    tunables.push_back(std::move(tunable));
}

void set_once(std::string& value, const std::string& word, const std::string& argument,
              const std::string& place)
{
    if (!value.empty())
        throw SpecError(place + ": '" + word + "' is said twice");
    value = argument;
}

Size read_size(const std::string& argument, const std::string& place)
{
    const auto [name, formula] = split_assignment(argument, place);
    return {name, Formula(place, formula)};
}

Scratch read_scratch(const std::string& argument, const std::string& place,
                     std::span<const std::string_view> elements)
{
    const auto colon = argument.find(':');
    const auto open = argument.find('[');
    const auto close = argument.rfind(']');
    if (colon == std::string::npos || open == std::string::npos || close == std::string::npos || open < colon)
        throw SpecError(place + ": expected 'NAME : ELEMENT[COUNT]', found '" + argument + "'");
    const std::string_view view = argument;
    const auto rest = trim(view.substr(close + 1));
    if (!rest.empty() && rest != "zero")
        throw SpecError(place + ": expected 'zero' or nothing behind the count, found '" + std::string(rest) +
                        "'");
    Scratch scratch{std::string(trim(view.substr(0, colon))),
                    std::string(trim(view.substr(colon + 1, open - colon - 1))),
                    Formula(place, argument.substr(open + 1, close - open - 1)), rest == "zero"};
    if (std::ranges::find(elements, scratch.element) == elements.end())
        throw SpecError(fmt::format("{}: unknown element '{}'; scratch is made of {} or {}", place,
                                    scratch.element, fmt::join(elements.first(elements.size() - 1), ", "),
                                    elements.back()));
    return scratch;
}

Launch read_launch(const std::string& argument, const std::string& place)
{
    const auto grid = argument.find("grid =");
    const auto block = argument.find("block =");
    const auto shared = std::min(argument.find("shared ="), argument.size());
    if (grid == std::string::npos || block == std::string::npos || block < grid || shared < block)
        throw SpecError(place + ": expected 'KERNEL grid = ... block = ... [shared = ...]', found '" +
                        argument + "'");
    const auto formula = [&](std::size_t begin, std::string_view label, std::size_t end) {
        begin += label.size();
        return Formula(place, std::string(trim(std::string_view(argument).substr(begin, end - begin))));
    };
    Launch launch{std::string(trim(std::string_view(argument).substr(0, grid))),
                  formula(grid, "grid =", block),
                  formula(block, "block =", shared),
                  {}};
    if (shared < argument.size())
        launch.shared = formula(shared, "shared =", argument.size());
    return launch;
}

}  // namespace segfold
