#include "runtime/cli/generated_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "dsl/error.h"
#include "runtime/random.h"
#include "runtime/visit_type.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kGeneratedTable = 4096;

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

std::uint64_t seed_of(const Operator& op, const std::string& parameter, std::uint64_t seed)
{
    const auto place = std::ranges::find(op.parameters, parameter, &Parameter::name) - op.parameters.begin();
    return place == 0 ? seed : RandomSequence::derive_seed(seed, static_cast<std::uint64_t>(place));
}

/// Makes every element a place of a table of `length`.
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

std::int64_t longest_segment(const Segments& segments)
{
    std::int64_t longest = 1;
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        longest = std::max(longest, segments.length(s));
    return longest;
}

/// The length that a table needs to be read by all its indices.
std::int64_t table_length(const Operator& op, const Segments& segments, const std::string& table,
                          const std::map<std::string, Array>& arrays)
{
    std::int64_t length = 1;
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
            length = std::max(length, longest_segment(segments) + 1);
        else
            throw InputError(
                fmt::format("table '{}' of operator {} cannot be generated, because its index is computed; "
                            "give --input {}=FILE.npy",
                            table, op.name, table));
    }
    return length;
}

/// The shortest table that a column indexes, if it does.
std::optional<std::int64_t> indexed_length(const std::vector<TableUse>& uses, const std::string& column,
                                           const std::map<std::string, Array>& arrays)
{
    std::optional<std::int64_t> length;
    for (const auto& use : uses)
        if (const auto table = arrays.find(use.table); use.index == column && table != arrays.end()) {
            const auto own = static_cast<std::int64_t>(table->second.length());
            length = std::min(length.value_or(own), own);
        }
    return length;
}

}  // namespace

std::vector<TableUse> table_uses(const Operator& op)
{
    std::vector<TableUse> uses;
    find_gathers(op.lift, uses);
    if (op.finish)
        find_gathers(*op.finish, uses);
    if (op.empty)
        find_gathers(*op.empty, uses);
    return uses;
}

void complete_arrays(const Operator& op, const Segments& segments, std::uint64_t seed, ValueRange range,
                     std::map<std::string, Array>& arrays)
{
    for (const auto& [name, type, table, position] : op.parameters)
        if (table && !arrays.contains(name))
            arrays.emplace(name, generate_values(type, table_length(op, segments, name, arrays),
                                                 seed_of(op, name, seed), range));
    const auto uses = table_uses(op);
    for (const auto& [name, type, table, position] : op.parameters) {
        if (table || arrays.contains(name))
            continue;
        const auto places = indexed_length(uses, name, arrays);
        auto array = generate_values(type, segments.num_elements, seed_of(op, name, seed),
                                     places ? ValueRange::uniform : range);
        if (places) {
            if (*places == 0)
                throw InputError(
                    fmt::format("column '{}' cannot be generated, because the table that it indexes is "
                                "empty; give --input {}=FILE.npy",
                                name, name));
            fold_into(array, *places);
        }
        arrays.emplace(name, std::move(array));
    }
}

void check_table_places(const Operator& op, const std::map<std::string, Array>& arrays)
{
    for (const auto& use : table_uses(op)) {
        const auto column = arrays.find(use.index);
        const auto table = arrays.find(use.table);
        if (!use.always || column == arrays.end() || table == arrays.end() ||
            !is_integer(column->second.type()))
            continue;
        const auto length = table->second.length();
        visit_integers(column->second, [&](auto values) {
            for (std::size_t i = 0; i < values.size(); ++i)
                if (std::cmp_less(values[i], 0) || std::cmp_greater_equal(values[i], length))
                    throw InputError(
                        fmt::format("column '{}' of element {} is {}, outside of table '{}', which has {} "
                                    "elements; places run from 0",
                                    use.index, i, values[i], use.table, length));
        });
    }
}

}  // namespace segfold::cli
