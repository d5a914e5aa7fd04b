#include "dsl/law_pool.h"

#include <algorithm>

namespace segfold {
namespace {

/// The first recipes, of which all pairs are tried.
constexpr std::size_t kPairedRecipes = 32;

/// One drawn case in so many has equal elements, which ties need and which would come up too seldom.
constexpr std::uint64_t kCasesPerTie = 8;

}  // namespace

LawPool::LawPool(const Operator& op, LawMachine& machine, std::vector<Recipe> recipes)
    : machine_(machine),
      recipes_(std::move(recipes)),
      by_place_(uses_name(op.lift, "index") || uses_name(op.lift, "position")),
      num_starts_(by_place_ ? 2 * kMostDrawnElements + 1 : 1),
      made_(num_starts_ * recipes_.size(), Made::no),
      states_(made_.size() * machine.num_fields())
{}

std::int64_t LawPool::num_cases(Equation equation, std::int64_t most) const
{
    if (num_states(equation) == 0)
        return 1;
    const auto size = static_cast<std::int64_t>(recipes_.size());
    return num_states(equation) == 1 || size == 0 ? std::min(size, most) : most;
}

CaseNumbers LawPool::choose(Equation equation, std::int64_t number, std::mt19937_64& random) const
{
    const bool triples = num_states(equation) == 3;
    const auto n = static_cast<std::size_t>(number);
    const std::size_t size = recipes_.size();
    if (num_states(equation) <= 1)
        return {n, 0, 0};
    const std::size_t first = std::min(size, triples ? kSimpleValues : kPairedRecipes);
    if (n < (triples ? first * first * first : first * first))
        return {n % first, n / first % first, n / first / first};
    CaseNumbers chosen = {random() % size, random() % size, random() % size};
    if (random() % kCasesPerTie == 0)
        chosen[random() % 3] = chosen[random() % 3];
    return chosen;
}

const Slot<double>* LawPool::state(std::size_t number, std::size_t start)
{
    const std::size_t at = number * num_starts_ + (by_place_ ? start : 0);
    auto* slots = states_.data() + at * machine_.num_fields();
    if (made_[at] == Made::no)
        made_[at] = machine_.reach(recipes_[number], start, slots) ? Made::yes : Made::impossible;
    return made_[at] == Made::yes ? slots : nullptr;
}

std::optional<CaseStates<double>> LawPool::states(Equation equation, const CaseNumbers& chosen)
{
    CaseStates<double> states{};
    std::size_t start = 0;
    for (std::size_t i = 0; i < num_states(equation); ++i) {
        states[i] = state(chosen[i], start);
        if (states[i] == nullptr)
            return std::nullopt;
        start += recipes_[chosen[i]].size();
    }
    return states;
}

LawCase LawPool::recipes(Equation equation, const CaseNumbers& chosen) const
{
    LawCase recipes;
    for (std::size_t i = 0; i < num_states(equation); ++i)
        recipes[i] = recipes_[chosen[i]];
    return recipes;
}

}  // namespace segfold
