#include "dsl/laws/pool.h"

#include <algorithm>

namespace segfold {
namespace {

/// All triples of the first kTripledRecipes recipes (elements of a state) are tried, and all pairs of the
/// first kPairedRecipes recipes.
constexpr std::size_t kTripledRecipes = 10;
constexpr std::size_t kPairedRecipes = 32;

/// One drawn case in kCasesPerTie repeats a recipe. Otherwise equal states would be too rare.
constexpr std::uint64_t kCasesPerTie = 8;

/// One drawn case in kCasesPerRelation takes successive recipes, whose elements may be related.
constexpr std::uint64_t kCasesPerRelation = 8;

/// One drawn case in kCasesPerLong has a recipe of many elements. If states depend on index or position, it
/// is one in kCasesPerLongByPlace, because such states cannot be kept and are computed anew for each case.
constexpr std::uint64_t kCasesPerLong = 8;
constexpr std::uint64_t kCasesPerLongByPlace = 64;

/// One drawn case in kCasesPerPlace begins at another index, position and segment.
constexpr std::uint64_t kCasesPerPlace = 3;

}  // namespace

LawPool::LawPool(const Operator& op, LawMachine& machine, std::vector<Recipe> recipes,
                 std::vector<Recipe> long_recipes)
    : machine_(machine),
      recipes_(std::move(recipes)),
      num_short_(recipes_.size()),
      by_place_(uses_name(op.lift, "index") || uses_name(op.lift, "position")),
      num_starts_(by_place_ ? 2 * kMostDrawnElements + 1 : 1),
      scratch_(3 * machine.num_fields())
{
    recipes_.insert(recipes_.end(), std::make_move_iterator(long_recipes.begin()),
                    std::make_move_iterator(long_recipes.end()));
    made_.assign(num_starts_ * recipes_.size(), Made::no);
    states_.resize(made_.size() * machine.num_fields());
}

std::int64_t LawPool::num_cases(Equation equation, std::int64_t most) const
{
    if (num_states(equation) == 0)
        return 1;
    if (!is_posed(equation, machine_.bytecode()))
        return 0;
    const auto size = static_cast<std::int64_t>(recipes_.size() * machine_.settings().size());
    return num_states(equation) == 1 || size == 0 ? std::min(size, most) : most;
}

CaseNumbers LawPool::choose(Equation equation, std::int64_t number, std::mt19937_64& random) const
{
    const bool triples = num_states(equation) == 3;
    const auto n = static_cast<std::size_t>(number);
    const std::size_t size = num_short_;
    if (const auto& settings = machine_.settings(); num_states(equation) <= 1)
        return {{n / settings.size(), 0, 0}, settings[n % settings.size()]};
    const std::size_t first = std::min(size, triples ? kTripledRecipes : kPairedRecipes);
    if (n < (triples ? first * first * first : first * first)) {
        const auto& settings = machine_.settings();
        const auto place = settings.size() > 1 ? settings[random() % settings.size()] : 0;
        return {{n % first, n / first % first, n / first / first}, place};
    }
    CaseNumbers chosen = {{random() % size, random() % size, random() % size}};
    auto& numbers = chosen.recipes;
    if (random() % kCasesPerTie == 0)
        numbers[random() % 3] = numbers[random() % 3];
    else if (random() % kCasesPerRelation == 0)
        numbers = {numbers[0], (numbers[0] + 1) % size, (numbers[0] + 2) % size};
    if (const auto num_long = recipes_.size() - size;
        num_long != 0 && random() % (by_place_ ? kCasesPerLongByPlace : kCasesPerLong) == 0)
        for (const auto mask = 1 + random() % 7; const std::size_t i : {0U, 1U, 2U})
            if ((mask >> i & 1) != 0)
                numbers[i] = size + random() % num_long;
    if (machine_.places().size() > 1 && random() % kCasesPerPlace == 0)
        chosen.place = random() % machine_.places().size();
    return chosen;
}

const Slot<double>* LawPool::state(std::size_t number, std::size_t start, std::size_t place,
                                   Slot<double>* scratch)
{
    if (place != 0 || (by_place_ && start >= num_starts_))
        return machine_.reach(recipes_[number], start, scratch, place) ? scratch : nullptr;
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
        const std::size_t number = chosen.recipes[i];
        if (is_of_append(equation) && i + 1 == num_states(equation)) {
            const auto recipe = taken(equation, i, recipes_[number]);
            auto* const lifted = scratch_.data() + i * machine_.num_fields();
            if (!machine_.reach(recipe, start, lifted, chosen.place))
                return std::nullopt;
            element_ = machine_.element<double>(recipe.front(), start, chosen.place);
            states[i] = lifted;
            states[2] = element_.data();
            return states;
        }
        states[i] = state(number, start, chosen.place, scratch_.data() + i * machine_.num_fields());
        if (states[i] == nullptr)
            return std::nullopt;
        start += recipes_[number].size();
    }
    return states;
}

LawCase LawPool::recipes(Equation equation, const CaseNumbers& chosen) const
{
    LawCase recipes;
    for (std::size_t i = 0; i < num_states(equation); ++i)
        recipes[i] = taken(equation, i, recipes_[chosen.recipes[i]]);
    recipes.place = chosen.place;
    return recipes;
}

}  // namespace segfold
