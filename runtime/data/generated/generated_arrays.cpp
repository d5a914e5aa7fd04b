#include "runtime/data/generated/generated_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "dsl/error.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/generated/computed_places.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/random.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kGeneratedTable = 4096;

/// A table's name and length.
struct NamedLength {
    std::string name;
    std::int64_t length;
};

void find_gathers(const Expression& expression, bool always, std::vector<TableUse>& uses)
{
    if (expression->kind == ExpressionKind::gather) {
        const auto* index = &expression.argument(0);
        while ((*index)->kind == ExpressionKind::convert)
            index = &index->argument(0);
        uses.push_back(
            {expression->name, (*index)->kind == ExpressionKind::name ? (*index)->name : "", always});
    }
    const bool chooses = expression->kind == ExpressionKind::conditional || expression->symbol == "&&" ||
                         expression->symbol == "||";
    for (std::size_t i = 0; i < expression->arguments.size(); ++i)
        find_gathers(expression.argument(i), always && (i == 0 || !chooses), uses);
}

void find_gathers(const Block& block, std::vector<TableUse>& uses)
{
    for (const auto& let : block.lets)
        find_gathers(let.value, true, uses);
    for (const auto& assignment : block.assignments)
        find_gathers(assignment.value, true, uses);
}

bool is_column(const Operator& op, const std::string& name)
{
    return std::ranges::any_of(op.parameters, [&](const auto& p) { return p.name == name && !p.table; });
}

/// Maps every element to an index of a table of `length` entries, by its remainder.
void fold_into(Array& array, std::int64_t length)
{
    visit_storage(array.type(), [&]<class Element>(std::type_identity<Element>) {
        if constexpr (std::is_integral_v<Element> && !std::is_same_v<Element, bool>) {
            const auto most = static_cast<std::uint64_t>(std::numeric_limits<Element>::max());
            const auto limit = std::min(static_cast<std::uint64_t>(length), most);
            for (auto& value : array.as<Element>())
                value = static_cast<Element>(static_cast<std::uint64_t>(value) % limit);
        }
    });
}

std::int64_t length_for_indices(const Array& array)
{
    std::int64_t length = 1;
    visit_integers(array, [&](auto values) {
        for (const auto value : values)
            if (std::cmp_less(value, std::int64_t{1} << 40))
                length = std::max(length, static_cast<std::int64_t>(value) + 1);
    });
    return length;
}

/// Returns the known values of indices, from existing arrays and segments. A column of indices that does not
/// exist yet may have any index of the tables that it indexes.
KnownPlaces known_places(const Operator& op, const Segments& segments,
                         const std::map<std::string, Array>& arrays, std::int64_t num_features)
{
    const auto length = [&op, &arrays,
                         num_features](const std::string& table) -> std::optional<std::int64_t> {
        const auto array = arrays.find(table);
        if (array == arrays.end())
            return std::nullopt;
        const auto parameter = std::ranges::find(op.parameters, table, &Parameter::name);
        return static_cast<std::int64_t>(array->second.length()) / (parameter->row ? num_features : 1);
    };
    const auto values = [&op, &segments, &arrays,
                         length](const std::string& name) -> std::optional<Interval> {
        if (name == "index")
            return Interval{0, segments.num_elements - 1};
        if (name == "position")
            return Interval{0, length_range(segments).longest - 1};
        if (name == "segment")
            return Interval{0, segments.num_segments - 1};
        if (name == "length")
            return Interval{1, length_range(segments).longest};
        if (const auto array = arrays.find(name); array != arrays.end() && is_integer(array->second.type()))
            return values_in(array->second);
        std::optional<Interval> places;
        for (const auto& use : table_uses(op))
            if (use.index == name && is_column(op, name)) {
                const Interval all = {0, length(use.table).value_or(kGeneratedTable) - 1};
                places = places ? meet(*places, all) : all;
            }
        return places;
    };
    return {values, length};
}

/// Returns the length at which the table has an entry for each of its indices.
std::int64_t table_length(const Operator& op, const Segments& segments, const std::string& table,
                          const std::map<std::string, Array>& arrays, const ComputedPlaces& computed)
{
    std::int64_t length = 1;
    const auto parameter = std::ranges::find(op.parameters, table, &Parameter::name);
    if (parameter != op.parameters.end() && parameter->scalar)
        return length;
    for (const auto& use : table_uses(op)) {
        if (use.table != table)
            continue;
        if (const auto column = arrays.find(use.index);
            column != arrays.end() && is_integer(column->second.type()))
            length = std::max(length, length_for_indices(column->second));
        else if (is_column(op, use.index))
            length = std::max(length, kGeneratedTable);
        else if (use.index == "index")
            length = std::max(length, segments.num_elements);
        else if (use.index == "segment")
            length = std::max(length, segments.num_segments);
        else if (use.index == "position" || use.index == "length")
            length = std::max(length, std::max<std::int64_t>(length_range(segments).longest, 1) + 1);
        else if (const auto needed = computed.length(table))
            length = std::max(length, *needed);
        else
            throw InputError(fmt::format(
                "table '{}' of operator {} cannot be generated, because nothing bounds the index that is "
                "computed; run, bench and tune read it by --input {}=FILE.npy, beside --values RANGE for the "
                "columns",
                table, op.name, table));
    }
    return length;
}

/// Returns the number of values in `count` elements of a parameter. Throws InputError if memory does not
/// suffice for these values.
std::int64_t numbers_of(const Parameter& parameter, std::int64_t count, std::int64_t num_features)
{
    const auto width = parameter.row ? num_features : 1;
    require_memory(
        static_cast<double>(size_bytes(parameter.type)) * static_cast<double>(width) *
            static_cast<double>(count),
        parameter.row ? fmt::format("{} rows of {} numbers of {} for '{}'", count, width,
                                    name(parameter.type), parameter.name)
                      : fmt::format("{} values of {} for '{}'", count, name(parameter.type), parameter.name));
    return count * width;
}

/// Returns the shortest table that the column indexes; null if it indexes none.
const NamedLength* find_table(const std::vector<TableUse>& uses, const std::string& column,
                              const std::vector<NamedLength>& tables)
{
    const NamedLength* shortest = nullptr;
    for (const auto& use : uses)
        for (const auto& table : tables)
            if (use.index == column && use.table == table.name &&
                (shortest == nullptr || table.length < shortest->length))
                shortest = &table;
    return shortest;
}

/// Generates indices of `table`.
Array generate_places(const Parameter& column, const NamedLength& table, std::int64_t num_elements,
                      std::uint64_t seed)
{
    if (table.length == 0)
        throw InputError(
            fmt::format("column '{}' cannot be generated, because table '{}', which it indexes, is empty; "
                        "give a table with entries, --input {}=FILE.npy",
                        column.name, table.name, table.name));
    auto array = generate_values(column.type, num_elements, seed, ValueRange::uniform);
    fold_into(array, table.length);
    return array;
}

}  // namespace

std::uint64_t seed_of(const Operator& op, const std::string& parameter, std::uint64_t seed)
{
    const auto place = std::ranges::find(op.parameters, parameter, &Parameter::name) - op.parameters.begin();
    return place == 0 ? seed : RandomSequence::derive_seed(seed, static_cast<std::uint64_t>(place));
}

std::string_view name(ValueRange range) { return kRangeNames[static_cast<std::size_t>(range)]; }

std::vector<TableUse> table_uses(const Operator& op)
{
    std::vector<TableUse> uses;
    find_gathers(op.lift, uses);
    if (op.finish)
        find_gathers(*op.finish, uses);
    if (op.empty)
        find_gathers(*op.empty, uses);
    if (op.map)
        find_gathers(*op.map, uses);
    if (op.scan)
        find_gathers(op.scan->block, uses);
    return uses;
}

std::map<std::string, std::string> complete_arrays(const Operator& op, const Segments& segments,
                                                   GenerateOptions options,
                                                   std::map<std::string, Array>& arrays)
{
    std::map<std::string, std::string> origins;
    const auto add = [&](const Parameter& parameter, std::string_view what, Array array) {
        origins[parameter.name] = fmt::format("generated {}, seed {}", what, options.seed);
        arrays.emplace(parameter.name, std::move(array));
    };
    const ComputedPlaces computed(op, known_places(op, segments, arrays, options.num_features));
    std::vector<NamedLength> tables;
    for (const auto& parameter : op.parameters) {
        if (!parameter.table)
            continue;
        const auto width = parameter.row ? options.num_features : 1;
        if (!arrays.contains(parameter.name))
            add(parameter, name(options.range),
                generate_values(
                    parameter.type,
                    numbers_of(parameter, table_length(op, segments, parameter.name, arrays, computed),
                               options.num_features),
                    seed_of(op, parameter.name, options.seed), options.range));
        tables.push_back(
            {parameter.name, static_cast<std::int64_t>(arrays.at(parameter.name).length()) / width});
    }
    const auto uses = table_uses(op);
    for (const auto& parameter : op.parameters) {
        if (parameter.table || arrays.contains(parameter.name))
            continue;
        const auto seed = seed_of(op, parameter.name, options.seed);
        const auto numbers = numbers_of(parameter, segments.num_elements, options.num_features);
        if (const auto* table = find_table(uses, parameter.name, tables))
            add(parameter, "places of " + table->name,
                generate_places(parameter, *table, segments.num_elements, seed));
        else if (computed.takes_part(parameter.name) && !parameter.row)
            add(parameter, fmt::format("0 to {}", computed.limit() - 1),
                generate_places(parameter, {"", computed.limit()}, segments.num_elements, seed));
        else
            add(parameter, name(options.range),
                generate_values(parameter.type, numbers, seed, options.range));
    }
    return origins;
}

}  // namespace segfold
