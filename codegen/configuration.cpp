#include "codegen/configuration.h"

#include <algorithm>

#include "dsl/error.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

/// Returns the greatest of `values` that is at most `bound`; if all are greater, returns the least.
int at_most(const std::vector<int>& values, std::int64_t bound)
{
    int best = std::ranges::min(values);
    for (const int value : values)
        if (value <= bound)
            best = std::max(best, value);
    return best;
}

const Formula* first_violation(const Stage& stage, const Configuration& configuration,
                               const FormulaNames& facts)
{
    // Without facts, `let` sizes and the conditions that use them cannot be evaluated.
    if (stage.where.empty() || (facts.empty() && !stage.sizes.empty()))
        return nullptr;
    const auto names = names_of(stage, configuration, facts);
    const auto violated =
        std::ranges::find_if(stage.where, [&](const auto& where) { return where.value(names) == 0; });
    return violated == stage.where.end() ? nullptr : &*violated;
}

/// Returns a stage's or probe's name for messages, such as "stage tile_scan" or "probe divergence".
std::string called(const Stage& stage)
{
    return (stage.file.starts_with("measuring/") ? "probe " : "stage ") + stage.name;
}

std::string list(const std::vector<int>& values)
{
    std::string text;
    for (const int value : values)
        text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
}

}  // namespace

FormulaNames names_of(const Stage& stage, const Configuration& configuration, const FormulaNames& facts)
{
    FormulaNames names = facts;
    for (const auto& [name, value] : configuration)
        names[name] = value;
    return with_sizes(std::move(names), stage.sizes);
}

Configuration default_configuration(const Stage& stage, const FormulaNames& facts)
{
    return configure(stage, {}, facts);
}

void check_tunables(const Stage& stage, const std::map<std::string, int>& chosen)
{
    for (const auto& [name, value] : chosen) {
        const auto tunable = std::ranges::find(stage.tunables, name, &Tunable::name);
        if (tunable == stage.tunables.end()) {
            std::vector<std::string_view> known;
            std::string names;
            for (const auto& other : stage.tunables) {
                known.push_back(other.name);
                names += (names.empty() ? "" : ", ") + other.name;
            }
            throw InputError(called(stage) + " has no tunable '" + name + "'; it has " +
                             (names.empty() ? "none" : names) + did_you_mean(name, known));
        }
        if (std::ranges::find(tunable->values, value) == tunable->values.end())
            throw InputError(called(stage) + ": " + name + " cannot be " + std::to_string(value) +
                             "; its values are " + list(tunable->values));
    }
}

Configuration configure(const Stage& stage, const std::map<std::string, int>& chosen,
                        const FormulaNames& facts)
{
    Configuration result;
    for (const auto& tunable : stage.tunables)
        result[tunable.name] = tunable.values.front();
    check_tunables(stage, chosen);
    for (const auto& [name, value] : chosen)
        result[name] = value;
    // A `prefer` formula may use chosen values and earlier `prefer` results.
    if (!facts.empty())
        for (const auto& [name, formula] : stage.prefer)
            if (!chosen.contains(name))
                result[name] = at_most(std::ranges::find(stage.tunables, name, &Tunable::name)->values,
                                       formula.value(names_of(stage, result, facts)));
    if (const auto* violated = first_violation(stage, result, facts))
        throw InputError(called(stage) + ": " + print(result) + " is excluded; it must hold that " +
                         violated->text());
    return result;
}

std::vector<Configuration> configurations(const Stage& stage, const FormulaNames& facts)
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
    std::erase_if(all, [&](const auto& configuration) {
        return first_violation(stage, configuration, facts) != nullptr;
    });
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
