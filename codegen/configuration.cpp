#include "codegen/configuration.h"

#include <algorithm>

#include "codegen/order/grown_configurations.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

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

/// Searches for the nearest configuration, by giving values to the tunables one by one. A condition is tested
/// as soon as all tunables in it have values.
class Search {
public:
    Search(const Stage& stage, const std::map<std::string, int>& wanted,
           const std::map<std::string, int>& chosen, FormulaNames facts, bool with_fits)
        : stage_(stage), names_(std::move(facts)), with_fits_(with_fits)
    {
        for (const auto& tunable : stage.tunables) {
            const auto own = chosen.find(tunable.name);
            if (own != chosen.end()) {
                values_.push_back({own->second});
                continue;
            }
            const auto found = wanted.find(tunable.name);
            const int start = found == wanted.end() ? tunable.values.front() : found->second;
            auto values = tunable.values;
            std::ranges::sort(values);
            const auto above = std::ranges::upper_bound(values, start);
            std::reverse(values.begin(), above);
            values_.push_back(std::move(values));
        }
    }

    bool find() { return holds(0) && find(0); }

    [[nodiscard]] Configuration found() const
    {
        Configuration result;
        for (const auto& tunable : stage_.tunables)
            result[tunable.name] = static_cast<int>(names_.at(tunable.name));
        return result;
    }

private:
    bool find(std::size_t tunable)
    {
        if (tunable == values_.size())
            return true;
        for (const int value : values_[tunable]) {
            names_[stage_.tunables[tunable].name] = value;
            if (holds(tunable + 1) && find(tunable + 1))
                return true;
        }
        return false;
    }

    /// Computes the sizes and tests the conditions whose last tunable is number `after` - 1. Returns true if
    /// these conditions hold.
    bool holds(std::size_t after)
    {
        for (std::size_t i = 0; i < stage_.sizes.size(); ++i)
            if (stage_.sizes_after[i] == after)
                names_[stage_.sizes[i].first] = stage_.sizes[i].second.value(names_);
        const auto hold = [&](const std::vector<Formula>& conditions, const std::vector<std::size_t>& ready) {
            for (std::size_t i = 0; i < conditions.size(); ++i)
                if (ready[i] == after && conditions[i].value(names_) == 0)
                    return false;
            return true;
        };
        return hold(stage_.where, stage_.where_after) &&
               (!with_fits_ || hold(stage_.fits, stage_.fits_after));
    }

    const Stage& stage_;
    std::vector<std::vector<int>> values_;
    FormulaNames names_;
    bool with_fits_;
};

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

std::optional<Configuration> nearest_configuration(const Stage& stage,
                                                   const std::map<std::string, int>& wanted,
                                                   const std::map<std::string, int>& chosen,
                                                   const FormulaNames& facts)
{
    for (const bool with_fits : {true, false})
        if (Search search(stage, wanted, chosen, facts, with_fits); search.find())
            return search.found();
    return std::nullopt;
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
    check_tunables(stage, chosen);
    const auto& wanted = GrownConfigurations::standard().of(stage.name, facts);
    if (!facts.empty())
        if (auto nearest = nearest_configuration(stage, wanted, chosen, facts))
            return std::move(*nearest);
    Configuration result(chosen.begin(), chosen.end());
    for (const auto& tunable : stage.tunables) {
        const auto found = wanted.find(tunable.name);
        result.emplace(tunable.name, found == wanted.end() ? tunable.values.front() : found->second);
    }
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
