#include "codegen/section/native_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/print/cuda_names.h"
#include "codegen/section/rows_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"

namespace segfold {
namespace {

constexpr const char* kLiftPlaces[] = {"index", "position", "segment"};

bool is_checked(const Problem& problem, const std::string& table)
{
    return std::ranges::find(problem.checked_tables, table) != problem.checked_tables.end();
}

Holes named_array(const std::string& name, Type type)
{
    return {{{"name", cuda_identifier(name)}, {"type", cuda_name(type)}}};
}

/// Returns " NAME" if a function uses the parameter NAME; else returns empty text.
std::string named(bool is_used, const std::string& name) { return is_used ? " " + name : ""; }

/// Returns the columns and places (such as position) on which the indices of table reads depend.
std::set<std::string> names_of_places(const RowOperator& rows)
{
    std::set<std::string> names;
    for (const auto& read : rows.reads)
        names.merge(names_of_place(read));
    return names;
}

/// Values for the holes of Row, find_row() and lift_feature().
struct RowHoles {
    Holes found, lifted;
};

RowHoles row_holes(const Problem& problem, const RowOperator& rows)
{
    const auto needed = names_of_places(rows);
    Holes found{{}, {{"number", {}}, {"row", {}}, {"read", {}}}};
    std::vector<std::string> arguments;
    bool uses_inputs = false;
    for (const auto& column : rows.op.parameters) {
        const auto given = std::ranges::find(problem.op.parameters, column.name, &Parameter::name);
        const bool is_read = given == problem.op.parameters.end();
        const bool is_lifted = lift_uses(rows.op, column);
        const auto name = cuda_identifier(column.name);
        if (column.table) {
            if (is_lifted) {
                arguments.push_back("inputs." + name);
                uses_inputs = true;
            }
            continue;
        }
        if (is_lifted)
            arguments.push_back("row." + name + (is_read || given->row ? "[k]" : ""));
        if (!is_read && (is_lifted || needed.contains(column.name)))
            found.lists[given->row ? "row" : "number"].push_back(named_array(column.name, column.type));
    }
    for (const auto& read : rows.reads) {
        const auto& table = *std::ranges::find(problem.op.parameters, read.table, &Parameter::name);
        auto array = named_array(read.column, table.type);
        array.values["table"] = cuda_identifier(read.table);
        array.values["place"] = place_call(rows, read);
        array.lists = {{"checked", {}}, {"trusted", {}}};
        array.lists[is_checked(problem, read.table) ? "checked" : "trusted"].push_back({{}});
        found.lists["read"].push_back(std::move(array));
    }
    Holes lifted;
    const bool has_columns = !found.lists["row"].empty() || !found.lists["number"].empty();
    for (const std::string place : kLiftPlaces) {
        found.values[place] = named(needed.contains(place) || (place == "index" && has_columns), place);
        const bool is_lifted = uses_name(rows.op.lift, place);
        lifted.values[place] = named(is_lifted, place);
        if (is_lifted)
            arguments.push_back(place);
    }
    lifted.values["inputs"] = named(uses_inputs, "inputs");
    lifted.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
    return {std::move(found), std::move(lifted)};
}

/// Returns the element types of the tables of rows whose reads are checked.
std::set<Type> checked_types(const Problem& problem, const RowOperator& rows)
{
    std::set<Type> types;
    for (const auto& read : rows.reads)
        if (is_checked(problem, read.table))
            types.insert(std::ranges::find(problem.op.parameters, read.table, &Parameter::name)->type);
    return types;
}

}  // namespace

std::vector<Piece> native_rows_section(const Problem& problem, const RowOperator& rows)
{
    if (!has_rows(problem.op))
        return {};
    std::vector<Piece> pieces;
    const auto add = [&](const std::string& name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    const auto [found, lifted] = row_holes(problem, rows);
    Holes stored{{}, {{"result", {}}}};
    for (const auto& result : problem.op.results)
        stored.lists["result"].push_back(named_array(result.name, result.type));
    for (const auto type : checked_types(problem, rows))
        add("find_features", vocabulary("features.h", "find_features",
                                        {{{"type", cuda_name(type)}, {"table", table_name(type)}}}));
    // native_map_section() emits the index functions of these reads.
    const auto is_mapped = [&](const RowRead& read) {
        return std::ranges::find(rows.map_reads, read.column, &RowRead::column) != rows.map_reads.end() ||
               std::ranges::find(rows.scan_reads, read.column, &RowRead::column) != rows.scan_reads.end();
    };
    for (const auto& read : rows.reads)
        if (!is_mapped(read))
            add("place_in_" + read.column, place_function(problem, rows, read, Dialect::native));
    add("Row", vocabulary("features.h", "Row", found));
    add("find_row", vocabulary("features.h", "find_row", found));
    add("lift_feature", vocabulary("features.h", "lift_feature", lifted));
    add("store_feature", vocabulary("features.h", "store_feature", stored));
    return pieces;
}

}  // namespace segfold
