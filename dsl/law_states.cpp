#include "dsl/law_states.h"

namespace segfold {
namespace {

/// Index and position differ, so that an operator which mixes them up is seen.
constexpr std::int64_t kFirstIndex = 10;
constexpr std::int64_t kSegment = 3;

/// Longer than any index or position of the search.
constexpr std::int64_t kTableLength = 64;

std::vector<Array> draw_tables(const Bytecode& bytecode, std::mt19937_64& random)
{
    std::vector<Array> tables;
    for (const Type type : bytecode.tables) {
        auto& table = tables.emplace_back(type, static_cast<std::size_t>(kTableLength));
        for (std::int64_t i = 0; i < kTableLength; ++i) {
            const bool index = is_integer(type) && i % 2 == 0;
            Machine<double>::store(index ? draw_index(type, kTableLength, random) : draw_value(type, random),
                                   type, table.data(), i);
        }
    }
    return tables;
}

std::vector<TableView> views(const std::vector<Array>& tables)
{
    std::vector<TableView> result;
    for (const auto& table : tables)
        result.push_back({table.data(), static_cast<std::int64_t>(table.length())});
    return result;
}

template <class Real>
Slot<Real> in_precision(Type type, const Slot<double>& value)
{
    Slot<Real> slot{};
    if (is_float(type))
        Machine<Real>::set_real(slot, type, Machine<double>::get_real(value, type));
    else
        slot.bits = value.bits;
    return slot;
}

}  // namespace

LawMachine::LawMachine(const Operator& op, std::mt19937_64& random)
    : bytecode_(compile_bytecode(op)),
      tables_(draw_tables(bytecode_, random)),
      working_(bytecode_, views(tables_)),
      wide_(bytecode_, views(tables_))
{}

template <class Real>
bool LawMachine::reach(const Recipe& recipe, std::size_t start, Slot<Real>* state)
{
    auto& evaluator = this->evaluator<Real>();
    const std::size_t columns = bytecode_.columns.size();
    std::vector<Slot<Real>> work(columns + num_fields());
    try {
        for (std::size_t i = 0; i < recipe.size(); ++i) {
            for (std::size_t k = 0; k < columns; ++k)
                work[k] = in_precision<Real>(bytecode_.columns[k], recipe[i][k]);
            const auto position = static_cast<std::int64_t>(start + i);
            Slot<Real>* lifted = i == 0 ? state : work.data() + columns;
            evaluator.lift(work.data(), kFirstIndex + position, position, kSegment, lifted);
            if (i != 0)
                evaluator.combine(state, lifted, state);
        }
    } catch (const InputError&) {
        return false;
    }
    return true;
}

template bool LawMachine::reach(const Recipe&, std::size_t, Slot<double>*);
template bool LawMachine::reach(const Recipe&, std::size_t, Slot<long double>*);

std::vector<Recipe> draw_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random, Draw draw)
{
    ElementDrawer drawer(machine.bytecode(), kTableLength, draw, random);
    std::vector<Slot<double>> state(machine.num_fields());
    std::vector<Recipe> recipes;
    const auto wanted = static_cast<std::size_t>(count);
    for (std::size_t tries = 0; recipes.size() < wanted && tries < 4 * wanted; ++tries) {
        Recipe recipe;
        const std::size_t length = tries < wanted / 2 ? 1 : 1 + random() % kMostDrawnElements;
        for (std::size_t i = 0; i < length; ++i)
            recipe.push_back(tries < 3 * kSimpleValues ? drawer.simple(tries) : drawer.any());
        // Only a table can refuse an element.
        if (machine.bytecode().tables.empty() || machine.reach(recipe, 0, state.data()))
            recipes.push_back(std::move(recipe));
    }
    return recipes;
}

}  // namespace segfold
