#include "dsl/laws/states.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "dsl/evaluation/table_reads.h"
#include "dsl/laws/constants.h"

namespace segfold {
namespace {

/// Index and position differ, so that a law fails for an operator that mixes them up.
constexpr std::int64_t kFirstIndex = 10;
constexpr std::int64_t kSegment = 3;

/// Number of settings (sets of scalar values). In each of the first kAlikeSettings, all scalars have the same
/// value.
constexpr std::size_t kSettings = 14;
constexpr std::size_t kAlikeSettings = 5;

/// Length of a drawn table. It exceeds the indices and positions near the front of a segment.
constexpr std::int64_t kTableLength = 64;

/// One recipe in kRecipesPerRelation begins with an element of the previous recipe, changed by a constant.
constexpr std::uint64_t kRecipesPerRelation = 4;

/// Largest number of places, and of lengths, that are derived from constants in the operator's text.
constexpr std::size_t kMostSuggested = 8;

/// Lengths of recipes with many elements. Lengths near constants in the operator's text are added.
constexpr std::size_t kLongLengths[] = {16, 17, 33, 64, 100, 127, 129, 255, 257, 300, 500, 1000};
constexpr std::size_t kMostLongElements = 1000;

/// Returns places a little below the limits of narrow types and below constants in the operator's text.
std::vector<ElementPlace> choose_places(const Operator& op, const Bytecode& bytecode)
{
    std::vector<ElementPlace> places = {{kFirstIndex, 0, kSegment}};
    if (!uses_name(op.lift, "index") && !uses_name(op.lift, "position") && !uses_name(op.lift, "segment"))
        return places;
    const auto add = [&](std::int64_t bound) {
        places.push_back({bound - 3, 0, bound - 1});
        places.push_back({2 * bound, bound - 3, bound});
    };
    for (const int bits : {31, 32, 7, 8, 15, 16, 24})
        add(std::int64_t{1} << bits);
    for (const auto& value : constant_values(bytecode, Type::i64))
        if (const auto bound = static_cast<std::int64_t>(value.bits);
            bound > 3 && bound < std::int64_t{1} << 60 && places.size() < 15 + 2 * kMostSuggested)
            add(bound);
    return places;
}

enum class Pattern : std::uint8_t { repeated, ascending, by_turns, simple };

/// Returns the numbers of elements that long recipes may have.
std::vector<std::size_t> choose_lengths(const Bytecode& bytecode)
{
    std::vector<std::size_t> lengths;
    for (const auto& value : constant_values(bytecode, Type::u64))
        if (value.bits > kMostDrawnElements && value.bits <= kMostLongElements &&
            lengths.size() < kMostSuggested)
            lengths.push_back(value.bits);
    lengths.insert(lengths.end(), std::begin(kLongLengths), std::end(kLongLengths));
    return lengths;
}

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

/// True if lift or append reads the table.
bool is_read(const Bytecode& bytecode, std::size_t table)
{
    const auto reads = [&](const Instruction& step) {
        return step.opcode == Opcode::gather && step.b == table;
    };
    return std::ranges::any_of(bytecode.lift.code, reads) || std::ranges::any_of(bytecode.append.code, reads);
}

Slot<double> slot_of(const FieldValue& value)
{
    Slot<double> slot{};
    if (is_float(value.type))
        Machine<double>::set_real(slot, value.type, value.real);
    else
        slot.bits = value.bits;
    return slot;
}

/// Adds the known values of scalars to the constants of combine. Elements are drawn near constants.
Bytecode with_scalars(Bytecode bytecode, const ScalarValues* scalars)
{
    auto& program = bytecode.combine;
    if (scalars != nullptr)
        for (const auto& value : *scalars)
            if (value && program.num_slots < std::numeric_limits<std::uint16_t>::max())
                program.constants.insert(program.constants.begin(),
                                         {program.num_slots++, value->type, value->bits, value->real});
    return bytecode;
}

/// Returns the value of scalar `number` in setting `setting`. In the first settings all scalars have one
/// small value; in later settings they have finite values of any size.
Slot<double> draw_scalar(Type type, std::size_t setting, std::size_t number, std::mt19937_64& random)
{
    constexpr double kReals[] = {2, -1, 0, 1, 0.5, -3, 100};
    constexpr std::int64_t kIntegers[] = {2, -1, 0, 1, 3, -5, 100};
    const std::size_t mixed = setting < kAlikeSettings ? setting : setting + number * kAlikeSettings;
    if (mixed >= std::size(kReals))
        return draw_value(type, random);
    if (is_float(type))
        return slot_of({type, 0, kReals[mixed]});
    if (type == Type::boolean)
        return slot_of({type, mixed % 2});
    return slot_of({type, wrap(type, static_cast<std::uint64_t>(kIntegers[mixed]))});
}

}  // namespace

LawMachine::LawMachine(const Operator& op, std::mt19937_64& random, const DataRanges* data,
                       const ScalarValues* scalars)
    : bytecode_(with_scalars(compile_bytecode(op), scalars)),
      data_(data),
      columns_of_places_(segfold::columns_of_places(without_outputs(op))),
      places_(choose_places(op, bytecode_)),
      tables_(draw_tables(bytecode_, random)),
      working_(bytecode_, views(tables_)),
      wide_(bytecode_, views(tables_))
{
    add_settings(scalars);
}

LawMachine::LawMachine(const Operator& op, std::vector<Array> given_tables)
    : bytecode_(compile_bytecode(op)),
      data_(nullptr),
      has_given_tables_(true),
      places_({{0, 0, 0}}),
      tables_(std::move(given_tables)),
      working_(bytecode_, views(tables_)),
      wide_(bytecode_, views(tables_))
{
    scalar_values_.emplace_back();
    for (std::size_t table = 0; table < tables_.size(); ++table)
        if (bytecode_.are_scalars[table] && is_read(bytecode_, table)) {
            scalar_tables_.push_back(table);
            Machine<double>::load(scalar_values_[0].emplace_back(), bytecode_.tables[table],
                                  tables_[table].data(), 0);
        }
}

void LawMachine::add_settings(const ScalarValues* scalars)
{
    std::mt19937_64 random(1);  // a fixed seed, so that every search finds the same counter-examples
    ScalarValues known;
    std::size_t scalar = 0;
    for (std::size_t table = 0; table < bytecode_.tables.size(); ++table) {
        if (!bytecode_.are_scalars[table])
            continue;
        if (is_read(bytecode_, table)) {
            scalar_tables_.push_back(table);
            known.push_back(scalars != nullptr ? (*scalars)[scalar] : std::nullopt);
        }
        ++scalar;
    }
    if (scalar_tables_.empty())
        return;
    const bool are_known = std::ranges::all_of(known, &std::optional<FieldValue>::has_value);
    for (std::size_t setting = 0; setting < (are_known ? 1 : kSettings); ++setting) {
        auto& values = scalar_values_.emplace_back();
        for (std::size_t i = 0; i < scalar_tables_.size(); ++i)
            values.push_back(known[i] ? slot_of(*known[i])
                                      : draw_scalar(bytecode_.tables[scalar_tables_[i]], setting, i, random));
        if (setting != 0) {
            settings_.push_back(places_.size());
            places_.push_back({kFirstIndex, 0, kSegment, setting});
        }
    }
    setting_ = scalar_values_.size();  // no such setting, so set_scalars(0) stores setting 0
    set_scalars(0);
}

void LawMachine::set_scalars(std::size_t setting)
{
    if (setting == setting_)
        return;
    setting_ = setting;
    for (std::size_t i = 0; i < scalar_tables_.size(); ++i) {
        const auto table = scalar_tables_[i];
        Machine<double>::store(scalar_values_[setting][i], bytecode_.tables[table], tables_[table].data(), 0);
    }
}

std::vector<std::pair<std::string, FieldValue>> LawMachine::scalars(std::size_t place) const
{
    std::vector<std::pair<std::string, FieldValue>> values;
    for (std::size_t i = 0; i < scalar_tables_.size(); ++i) {
        const Type type = bytecode_.tables[scalar_tables_[i]];
        const auto& slot = scalar_values_[places_[place].setting][i];
        values.emplace_back(bytecode_.table_names[scalar_tables_[i]],
                            is_float(type) ? FieldValue{type, 0, Machine<double>::get_real(slot, type)}
                                           : FieldValue{type, slot.bits});
    }
    return values;
}

template <class Real>
bool LawMachine::reach(const Recipe& recipe, std::size_t start, Slot<Real>* state, std::size_t place)
{
    auto& evaluator = this->evaluator<Real>();
    set_scalars(places_[place].setting);
    const std::size_t columns = bytecode_.columns.size();
    std::vector<Slot<Real>> work(columns + num_fields());
    try {
        for (std::size_t i = 0; i < recipe.size(); ++i) {
            for (std::size_t k = 0; k < columns; ++k)
                work[k] = in_precision<Real>(bytecode_.columns[k], recipe[i][k]);
            const auto at = static_cast<std::int64_t>(start + i);
            const auto& [index, position, segment, setting] = places_[place];
            Slot<Real>* lifted = i == 0 ? state : work.data() + columns;
            evaluator.lift(work.data(), index + at, position + at, segment, lifted);
            if (i != 0)
                evaluator.combine(state, lifted, state);
        }
    } catch (const InputError&) {
        return false;
    }
    return true;
}

template <class Real>
std::vector<Slot<Real>> LawMachine::element(const Element& values, std::size_t start, std::size_t place) const
{
    const std::size_t columns = bytecode_.columns.size();
    std::vector<Slot<Real>> slots(columns + 3);
    for (std::size_t k = 0; k < columns; ++k)
        slots[k] = in_precision<Real>(bytecode_.columns[k], values[k]);
    const auto& [index, position, segment, setting] = places_[place];
    const auto at = static_cast<std::int64_t>(start);
    slots[columns].bits = static_cast<std::uint64_t>(index + at);
    slots[columns + 1].bits = static_cast<std::uint64_t>(position + at);
    slots[columns + 2].bits = static_cast<std::uint64_t>(segment);
    return slots;
}

template std::vector<Slot<double>> LawMachine::element(const Element&, std::size_t, std::size_t) const;
template std::vector<Slot<long double>> LawMachine::element(const Element&, std::size_t, std::size_t) const;
template bool LawMachine::reach(const Recipe&, std::size_t, Slot<double>*, std::size_t);
template bool LawMachine::reach(const Recipe&, std::size_t, Slot<long double>*, std::size_t);

std::vector<Recipe> draw_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random, Draw draw)
{
    ElementDrawer drawer(machine.bytecode(), machine.columns_of_places(), kTableLength, draw, random,
                         machine.data());
    std::vector<Slot<double>> state(machine.num_fields());
    std::vector<Recipe> recipes;
    const auto wanted = static_cast<std::size_t>(count);
    for (std::size_t tries = 0; recipes.size() < wanted && tries < 4 * wanted; ++tries) {
        Recipe recipe;
        const std::size_t length = tries < wanted / 2 ? 1 : 1 + random() % kMostDrawnElements;
        for (std::size_t i = 0; i < length; ++i)
            if (tries < 3 * kSimpleValues)
                recipe.push_back(drawer.simple(tries));
            else if (i == 0 && !recipes.empty() && !machine.bytecode().columns.empty() &&
                     random() % kRecipesPerRelation == 0)
                recipe.push_back(drawer.related(recipes.back().back()));
            else
                recipe.push_back(drawer.any());
        // A recipe is dropped only if it reads outside of a table.
        if (machine.bytecode().tables.empty() || machine.reach(recipe, 0, state.data()))
            recipes.push_back(std::move(recipe));
    }
    return recipes;
}

std::vector<Recipe> draw_elements(LawMachine& machine, std::int64_t count, std::mt19937_64& random)
{
    ElementDrawer drawer(machine.bytecode(), machine.columns_of_places(), kTableLength, Draw::all, random,
                         machine.data());
    std::vector<Slot<double>> state(machine.num_fields());
    std::vector<Recipe> recipes;
    const auto add = [&](Element element) {
        Recipe recipe = {std::move(element)};
        if (machine.bytecode().tables.empty() || machine.reach(recipe, 0, state.data()))
            recipes.push_back(std::move(recipe));
    };
    for (std::size_t number = 0; number < drawer.num_alike(); ++number)
        add(drawer.alike(number));
    for (std::int64_t n = 0; n < count; ++n)
        add(drawer.any());
    return recipes;
}

std::vector<Recipe> draw_long_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random,
                                      Draw draw)
{
    ElementDrawer drawer(machine.bytecode(), machine.columns_of_places(), kTableLength, draw, random,
                         machine.data());
    const auto lengths = choose_lengths(machine.bytecode());
    std::vector<Slot<double>> state(machine.num_fields());
    std::vector<Recipe> recipes;
    for (std::int64_t n = 0; n < count; ++n) {
        const auto number = static_cast<std::size_t>(n);
        // Lengths near constants in the operator's text come first, then random lengths.
        const std::size_t length =
            number < kMostSuggested ? lengths[number] : lengths[random() % lengths.size()];
        const auto pattern = static_cast<Pattern>(number % 4);
        const std::size_t period = pattern == Pattern::repeated   ? 1
                                   : pattern == Pattern::by_turns ? 2
                                                                  : length;
        Recipe recipe;
        for (std::size_t i = 0; i < length; ++i) {
            if (i >= period)
                recipe.push_back(recipe[i - period]);
            else if (pattern == Pattern::ascending && i != 0)
                recipe.push_back(drawer.next(recipe.back()));
            else if (pattern == Pattern::by_turns)
                recipe.push_back(drawer.any());
            else  // 1, -1, 2, ... for repeated elements
                recipe.push_back(drawer.simple(1 + number / 4 + i));
        }
        if (machine.bytecode().tables.empty() || machine.reach(recipe, 0, state.data()))
            recipes.push_back(std::move(recipe));
    }
    return recipes;
}

}  // namespace segfold
