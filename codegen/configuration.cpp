#include "codegen/configuration.h"

#include <algorithm>

#include "dsl/error.h"
#include "dsl/suggest.h"

namespace segfold {
namespace {

FormulaNames names_of(const Configuration& configuration)
{
    return {configuration.begin(), configuration.end()};
}

const Formula* first_violation(const Stage& stage, const Configuration& configuration)
{
    const auto names = names_of(configuration);
    const auto violated =
        std::ranges::find_if(stage.where, [&](const auto& where) { return where.value(names) == 0; });
    return violated == stage.where.end() ? nullptr : &*violated;
}

std::string list(const std::vector<int>& values)
{
    std::string text;
    for (const int value : values)
        text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
}

}  // namespace

Configuration default_configuration(const Stage& stage)
{
    Configuration result;
    for (const auto& tunable : stage.tunables)
        result[tunable.name] = tunable.values.front();
    return result;
}

Configuration configure(const Stage& stage, const std::map<std::string, int>& chosen)
{
    auto result = default_configuration(stage);
    for (const auto& [name, value] : chosen) {
        const auto tunable = std::ranges::find(stage.tunables, name, &Tunable::name);
        if (tunable == stage.tunables.end()) {
            std::vector<std::string_view> known;
            std::string names;
            for (const auto& other : stage.tunables) {
                known.push_back(other.name);
                names += (names.empty() ? "" : ", ") + other.name;
            }
            throw InputError("stage " + stage.name + " has no tunable '" + name + "'; it has " +
                             (names.empty() ? "none" : names) + did_you_mean(name, known));
        }
        if (std::ranges::find(tunable->values, value) == tunable->values.end())
            throw InputError("stage " + stage.name + ": " + name + " cannot be " + std::to_string(value) +
                             "; its values are " + list(tunable->values));
        result[name] = value;
    }
    if (const auto* violated = first_violation(stage, result))
        throw InputError("stage " + stage.name + ": " + print(result) + " is excluded; it must hold that " +
                         violated->text());
    return result;
}

std::vector<Configuration> configurations(const Stage& stage)
{
    std::vector<Configuration> all = {{}};
    for (const auto& tunable : stage.tunables) {
        std::vector<Configuration> next;
        for (const auto& partial : all)
            for (const int value : tunable.values) {
                next.push_back(partial);
                next.back()[tunable.name] = value;
            }
        all = std::move(next);
    }
    std::erase_if(
        all, [&](const auto& configuration) { return first_violation(stage, configuration) != nullptr; });
    return all;
}

std::string print(const Configuration& configuration)
{
    std::string text;
    for (const auto& [name, value] : configuration)
        text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
    return text;
}

}  // namespace segfold
