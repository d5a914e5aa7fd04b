#include "dsl/laws/sorted_cases.h"

#include <algorithm>
#include <cmath>

#include "dsl/laws/pool.h"
#include "dsl/stopped.h"

namespace segfold {
namespace {

/// Largest number of cases tried. Sorted cases are tried only if at least kLeastBroken unsorted cases break
/// the equation.
constexpr std::int64_t kCases = 512;
constexpr std::int64_t kLeastBroken = 64;

/// Number of drawn recipes (elements of states) from which cases are made.
constexpr std::int64_t kRecipes = 96;

bool has_finite(const LawCase& tried, const std::vector<Type>& columns)
{
    for (const auto& recipe : tried.recipes)
        for (const auto& element : recipe)
            for (std::size_t k = 0; k < columns.size(); ++k)
                if (is_float(columns[k]) && !std::isfinite(Machine<double>::get_real(element[k], columns[k])))
                    return false;
    return true;
}

std::vector<LawCase> drawn_cases(const Operator& op, Equation equation, LawMachine& machine,
                                 const LawOptions& options)
{
    std::mt19937_64 random(options.seed);
    const LawPool pool(op, machine, draw_recipes(machine, kRecipes, random, Draw::small_integers));
    std::vector<LawCase> cases;
    for (auto n = pool.size() == 0 ? 0 : std::min(kCases, options.most_cases); n > 0; --n) {
        CaseNumbers chosen;
        for (std::size_t i = 0; i < num_states(equation); ++i)
            chosen.recipes[i] = random() % pool.size();
        auto drawn = pool.recipes(equation, chosen);
        if (has_finite(drawn, machine.bytecode().columns))
            cases.push_back(std::move(drawn));
    }
    return cases;
}

/// Sorts the elements of a case by column `k` of type `type`, in ascending order.
LawCase sorted_by(LawCase tried, std::size_t k, Type type)
{
    Recipe all;
    for (const auto& recipe : tried.recipes)
        all.insert(all.end(), recipe.begin(), recipe.end());
    std::ranges::stable_sort(all, [&](const Element& a, const Element& b) {
        if (is_float(type))
            return Machine<double>::get_real(a[k], type) < Machine<double>::get_real(b[k], type);
        return is_signed_integer(type)
                   ? static_cast<std::int64_t>(a[k].bits) < static_cast<std::int64_t>(b[k].bits)
                   : a[k].bits < b[k].bits;
    });
    auto next = all.begin();
    for (auto& recipe : tried.recipes)
        for (auto& element : recipe)
            element = *next++;
    return tried;
}

}  // namespace

void find_sorting_column(const Operator& op, Equation equation, LawMachine& machine, LawJudge& judge,
                         const LawOptions& options, LawFinding& finding)
{
    const auto cases = drawn_cases(op, equation, machine, options);
    const auto breaks = [&](const LawCase& tried) {
        throw_if_stopped();
        return judge.refutes(equation, tried);
    };
    const auto num_broken = std::ranges::count_if(cases, breaks);
    if (num_broken < kLeastBroken)
        return;
    std::size_t k = 0;
    for (const auto& parameter : op.parameters) {
        if (parameter.table)
            continue;
        const auto column = k++;
        const auto type = machine.bytecode().columns[column];
        if (type == Type::boolean || std::ranges::any_of(cases, [&](const auto& tried) {
                return breaks(sorted_by(tried, column, type));
            }))
            continue;
        finding.sorted_by = parameter.name;
        finding.sorted_cases = num_broken;
        return;
    }
}

}  // namespace segfold
