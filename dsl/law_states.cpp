#include "dsl/law_states.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dsl/half.h"

namespace segfold {
namespace {

/// Index and position differ, so that an operator which mixes them up is seen.
constexpr std::int64_t kFirstIndex = 10;
constexpr std::int64_t kSegment = 3;

/// Longer than any index or position of the search.
constexpr std::int64_t kTableLength = 64;

Slot<double> integer_slot(Type type, std::uint64_t bits)
{
    Slot<double> slot{};
    slot.bits = wrap(type, bits);
    return slot;
}

Slot<double> real_slot(Type type, double value)
{
    Slot<double> slot{};
    Machine<double>::set_real(slot, type, value);
    return slot;
}

/// Exponents of the least denormal, of the least normal number, and of the highest power of two.
struct Exponents {
    int denormal, normal, highest;
};

Exponents exponents(Type type)
{
    switch (type) {
    case Type::f16:
        return {-24, -14, 15};
    case Type::bf16:
        return {-133, -126, 127};
    case Type::f32:
        return {-149, -126, 127};
    default:
        return {-1074, -1022, 1023};
    }
}

/// In [-1, 1), of 53 bits.
double draw_unit(std::mt19937_64& random)
{
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random() >> 10)), -53) - 1;
}

Slot<double> draw_real(Type type, std::mt19937_64& random)
{
    const auto small = static_cast<double>(static_cast<int>(random() % 17) - 8);
    const auto [denormal, normal, highest] = exponents(type);
    switch (random() % 5) {
    case 0:
        return real_slot(type, small);
    case 1:
        return real_slot(type, small / 8);
    case 2:
        return real_slot(type, draw_unit(random));
    case 3:
        return real_slot(type, std::ldexp(draw_unit(random), static_cast<int>(random() % 21) - 10));
    default: {
        const auto range = static_cast<std::uint64_t>(highest - denormal + 1);
        return real_slot(type, std::ldexp(draw_unit(random), denormal + static_cast<int>(random() % range)));
    }
    }
}

Slot<double> draw_integer(Type type, std::mt19937_64& random)
{
    const std::uint64_t small = random() % 9;
    switch (random() % 5) {
    case 0:
        return integer_slot(type, small);
    case 1:
        return integer_slot(type, is_signed_integer(type) ? 0 - small : small + 8);
    case 2:
        return integer_slot(type, random() % 2 ? highest_integer(type) - small : lowest_integer(type) + small);
    case 3:
        return integer_slot(type, (std::uint64_t{1} << random() % 64) + random() % 3 - 1);
    default:
        return integer_slot(type, random());
    }
}

Slot<double> draw_value(Type type, std::mt19937_64& random)
{
    if (type == Type::boolean)
        return integer_slot(type, random() % 2);
    if (is_float(type))
        return draw_real(type, random);
    return draw_integer(type, random);
}

/// With tables, integers are kept small enough to be read at.
Slot<double> draw_index(Type type, std::mt19937_64& random)
{
    return integer_slot(type, random() % (random() % 2 ? 4 : static_cast<std::uint64_t>(kTableLength)));
}

std::vector<Array> draw_tables(const Bytecode& bytecode, std::mt19937_64& random)
{
    std::vector<Array> tables;
    for (const Type type : bytecode.tables) {
        auto& table = tables.emplace_back(type, static_cast<std::size_t>(kTableLength));
        for (std::int64_t i = 0; i < kTableLength; ++i) {
            const bool index = is_integer(type) && i % 2 == 0;
            Machine<double>::store(index ? draw_index(type, random) : draw_value(type, random), type, table.data(), i);
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

/// Draws elements, column by column.
class ElementDrawer {
public:
    ElementDrawer(const Bytecode& bytecode, std::mt19937_64& random) : bytecode_(bytecode), random_(random)
    {
        for (const Type type : bytecode.columns)
            edges_.push_back(edge_values(type));
    }

    /// Simple elements come in order where there is one column, else as they are drawn.
    Element simple(std::size_t number)
    {
        Element element;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            const auto count = edges_[i].size();
            const bool in_order = edges_.size() == 1 || number < 2;
            element.push_back(value(i, in_order ? number % count : random_() % std::min(count, kSimpleRecipes)));
        }
        return element;
    }

    Element any()
    {
        Element element;
        const bool edges = random_() % 4 == 0;
        for (std::size_t i = 0; i < edges_.size(); ++i)
            element.push_back(edges ? value(i, random_() % edges_[i].size()) : other(i));
        return element;
    }

private:
    [[nodiscard]] bool is_index(std::size_t column) const
    {
        return !bytecode_.tables.empty() && is_integer(bytecode_.columns[column]);
    }
    Slot<double> value(std::size_t column, std::size_t edge)
    {
        return is_index(column) ? integer_slot(bytecode_.columns[column], edge) : edges_[column][edge];
    }
    Slot<double> other(std::size_t column)
    {
        const Type type = bytecode_.columns[column];
        return is_index(column) ? draw_index(type, random_) : draw_value(type, random_);
    }

    const Bytecode& bytecode_;
    std::mt19937_64& random_;
    std::vector<std::vector<Slot<double>>> edges_;
};

}  // namespace

std::uint64_t lowest_integer(Type type)
{
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    return is_signed_integer(type) ? ~std::uint64_t{0} << (bits - 1) : 0;
}

std::uint64_t highest_integer(Type type)
{
    if (type == Type::boolean)
        return 1;
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    return is_signed_integer(type) ? ~lowest_integer(type) : ~std::uint64_t{0} >> (64 - bits);
}

double highest_float(Type type)
{
    switch (type) {
    case Type::f16:
        return 65504.0;
    case Type::bf16:
        return 0x1.fep127;
    case Type::f32:
        return std::numeric_limits<float>::max();
    default:
        return std::numeric_limits<double>::max();
    }
}

std::vector<Slot<double>> edge_values(Type type)
{
    std::vector<Slot<double>> edges;
    if (is_float(type)) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double highest = highest_float(type);
        const auto [denormal, normal, exponent] = exponents(type);
        for (const double value :
             {0.0, 1.0, -1.0, 2.0, 3.0, 0.5, infinity, std::nan(""), highest, -infinity, -highest, -0.0,
              std::ldexp(1.0, denormal), -std::ldexp(1.0, denormal), std::ldexp(1.0, normal), highest / 2,
              std::ldexp(1.0, exponent / 2), 1.0 / 3, 0.1, 1.5, -2.0, -0.5, 7.0, 100.0, -3.0})
            edges.push_back(real_slot(type, value));
        return edges;
    }
    if (type == Type::boolean)
        return {integer_slot(type, 0), integer_slot(type, 1)};
    const std::uint64_t lowest = lowest_integer(type);
    const std::uint64_t highest = highest_integer(type);
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3}, highest, lowest,
          ~std::uint64_t{1}, highest - 1, lowest + 1, std::uint64_t{5}, highest / 2 + 1, highest / 2, lowest / 2,
          std::uint64_t{4}, std::uint64_t{7}, std::uint64_t{10}, std::uint64_t{100}}) {
        const auto slot = integer_slot(type, value);
        const auto known = [&](const Slot<double>& other) { return other.bits == slot.bits; };
        if (std::ranges::none_of(edges, known))
            edges.push_back(slot);
    }
    return edges;
}

LawMachine::LawMachine(const Operator& op, std::mt19937_64& random)
    : bytecode_(compile_bytecode(op)),
      tables_(draw_tables(bytecode_, random)),
      working_(bytecode_, views(tables_)),
      wide_(bytecode_, views(tables_))
{
}

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

std::vector<Recipe> draw_recipes(LawMachine& machine, std::size_t count, std::mt19937_64& random)
{
    ElementDrawer drawer(machine.bytecode(), random);
    std::vector<Slot<double>> state(machine.num_fields());
    std::vector<Recipe> recipes;
    for (std::size_t tries = 0; recipes.size() < count && tries < 4 * count; ++tries) {
        Recipe recipe;
        const std::size_t length = tries < count / 2 ? 1 : 1 + random() % kMostDrawnElements;
        for (std::size_t i = 0; i < length; ++i)
            recipe.push_back(tries < 3 * kSimpleRecipes ? drawer.simple(tries) : drawer.any());
        // Only a table can refuse an element.
        if (machine.bytecode().tables.empty() || machine.reach(recipe, 0, state.data()))
            recipes.push_back(std::move(recipe));
    }
    return recipes;
}

}  // namespace segfold
