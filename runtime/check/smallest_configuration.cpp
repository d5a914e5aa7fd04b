#include "runtime/check/smallest_configuration.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dsl/error.h"

namespace segfold::regress {

Configuration smallest_configuration(const Stage& stage, const Problem& problem, std::string_view uncounted,
                                     const Shape& shape)
{
    const auto facts = plan_facts(problem, shape);
    const auto size = [uncounted](const auto& chosen) {
        std::int64_t product = 1;
        for (const auto& [name, value] : chosen)
            if (name != uncounted)
                product *= std::max(value, 1);
        return product;
    };
    const auto usual = default_configuration(stage, facts);
    std::vector<std::map<std::string, int>> smaller = {{}};
    for (const auto& tunable : stage.tunables) {
        std::vector<std::map<std::string, int>> next;
        for (const auto& partial : smaller)
            for (const int value : tunable.values) {
                auto chosen = partial;
                chosen[tunable.name] = value;
                if (size(chosen) < size(usual))
                    next.push_back(std::move(chosen));
            }
        smaller = std::move(next);
    }
    // Tries the smallest configurations first and stops at the first valid one, because evaluating conditions
    // takes most of the time.
    std::ranges::stable_sort(smaller, {}, size);
    for (const auto& chosen : smaller) {
        try {
            return configure(stage, chosen, facts);
        } catch (const InputError&) {  // a condition excludes this configuration
        }
    }
    return usual;
}

Configuration next_configuration(const Stage& stage, const Problem& problem, const Shape& shape)
{
    const auto facts = plan_facts(problem, shape);
    const auto smallest = smallest_configuration(stage, problem, {}, shape);
    const auto usual = default_configuration(stage, facts);
    std::map<std::string, int> chosen(smallest.begin(), smallest.end());
    for (const auto& tunable : stage.tunables) {
        auto values = tunable.values;
        std::ranges::sort(values);
        auto larger = std::ranges::upper_bound(values, chosen[tunable.name]);
        if (larger == values.end())
            continue;
        if (*larger == usual.at(tunable.name) && larger + 1 != values.end())
            ++larger;
        auto next = chosen;
        next[tunable.name] = *larger;
        try {
            (void)configure(stage, next, facts);
            chosen = std::move(next);
        } catch (const InputError&) {  // a condition excludes this value
        }
    }
    return configure(stage, chosen, facts);
}

}  // namespace segfold::regress
