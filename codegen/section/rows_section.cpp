#include "codegen/section/rows_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "codegen/print/cuda_names.h"
#include "codegen/print/cuda_printer.h"
#include "codegen/print/shuffle_call.h"
#include "codegen/section/map_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"

namespace segfold {
namespace {

constexpr const char* kPlacesOfMap[] = {"index", "position", "segment", "length"};

void add_names_in(const Expression& expression, std::set<std::string>& names)
{
    if (expression->kind == ExpressionKind::name || expression->kind == ExpressionKind::gather)
        names.insert(expression->name);
    for (const auto& argument : expression->arguments)
        add_names_in(argument, names);
}

bool is_checked_table(const Problem& problem, const std::string& table)
{
    return std::ranges::find(problem.checked_tables, table) != problem.checked_tables.end();
}

Holes array_holes(const std::string& name, Type type)
{
    return {{{"name", cuda_identifier(name)},
             {"type", cuda_name(type)},
             {"word", std::string(segfold::name(type))},
             {"bytes", std::to_string(size_bytes(type))}}};
}

/// Returns the reads of tables of rows, made by lift and by scan, whose features a Row contains.
std::vector<RowRead> reads_of_row(const RowOperator& rows)
{
    auto reads = rows.reads;
    for (const auto& read : rows.scan_reads)
        if (std::ranges::find(reads, read.column, &RowRead::column) == reads.end())
            reads.push_back(read);
    return reads;
}

/// Values for the holes of MapRow, and of the functions that load a MapRow and the results.
struct LoadHoles {
    Holes row;
    Holes results;
};

LoadHoles map_load_holes(const Problem& problem)
{
    const auto& op = problem.op;
    const auto needed = names_of_map(*op.map);
    const auto unnamed = [](std::initializer_list<const char*> names) {
        Holes holes{{}, {{"number", {}}, {"row", {}}, {"result", {}}}};
        for (const auto* name : names)
            holes.values[name] = "";
        return holes;
    };
    LoadHoles holes = {
        unnamed({"row", "inputs", "index", "feature", "num_features", "is_vector"}),
        unnamed({"row_results", "results", "segment", "feature", "num_features", "is_vector"})};
    const auto use = [](Holes& of, std::initializer_list<const char*> names) {
        for (const auto* name : names)
            of.values[name] = std::string(" ") + name;
    };
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        holes.row.lists[column.row ? "row" : "number"].push_back(array_holes(column.name, column.type));
        use(holes.row, {"row", "inputs", "index"});
        if (column.row)
            use(holes.row, {"feature", "num_features", "is_vector"});
    }
    for (const auto& result : op.results) {
        if (!needed.contains(result.name))
            continue;
        holes.results.lists["result"].push_back(array_holes(result.name, result.type));
        use(holes.results, {"results", "segment", "feature", "num_features", "is_vector"});
        holes.results.values["row_results"] = "row_results";
    }
    return holes;
}

/// Returns the columns that map reads.
std::set<std::string> columns_of_map(const Operator& op)
{
    const auto needed = names_of_map(*op.map);
    std::set<std::string> columns;
    for (const auto& column : op.parameters)
        if (!column.table && needed.contains(column.name))
            columns.insert(column.name);
    return columns;
}

/// Returns the values for the holes of map_row(). If the kernel keeps the elements in Rows (`kept`), returns
/// the values for the holes of map_kept(). `held` are the columns that a Row contains.
Holes map_holes(const Problem& problem, const RowOperator& rows, bool kept, const std::set<std::string>& held)
{
    const auto& op = problem.op;
    const auto needed = names_of_map(*rows.op.map);
    const auto loaded = names_of_map(*op.map);  // also contains names in indices of tables of rows
    Holes holes{{{"inputs", ""}, {"row", ""}, {"row_results", ""}},
                {{"number", {}},
                 {"row", {}},
                 {"result", {}},
                 {"output", {}},
                 {"read", {}},
                 {"seen", {}},
                 {"guarded", {}}}};
    std::vector<std::string> arguments;
    const auto is_held = [&](const std::string& column) { return kept && held.contains(column); };
    const auto use = [&](const std::string& column) {
        holes.values[is_held(column) ? "row" : "inputs"] = is_held(column) ? " row" : " inputs";
        return (is_held(column) ? "row." : "of_") + cuda_identifier(column);
    };
    for (const auto& column : op.parameters) {
        if (column.table || !loaded.contains(column.name))
            continue;
        if (!is_held(column.name))
            holes.lists[column.row ? "row" : "number"].push_back(array_holes(column.name, column.type));
        const auto argument = use(column.name);
        if (needed.contains(column.name))
            arguments.push_back(argument + (column.row ? ".at[v]" : ""));
    }
    for (const auto& column : rows.op.parameters) {
        const auto read = std::ranges::find(rows.map_reads, column.name, &RowRead::column);
        if (read == rows.map_reads.end())
            continue;
        const bool is_needed = needed.contains(column.name);
        if (!is_held(column.name) && (is_needed || is_checked_table(problem, read->table))) {
            holes.values["inputs"] = " inputs";
            auto array = array_holes(column.name, column.type);
            array.values["table"] = cuda_identifier(read->table);
            array.values["place"] = place_call(rows, *read, use);
            holes.lists[is_needed ? "read" : "seen"].push_back(std::move(array));
        }
        if (is_needed)
            arguments.push_back(use(column.name) + ".at[v]");
    }
    const auto tables = tables_of_map(problem, needed);
    std::ranges::copy(tables.arguments, std::back_inserter(arguments));
    if (!tables.arguments.empty())
        holes.values["inputs"] = " inputs";
    if (tables.gathers)
        holes.lists["guarded"].push_back({});
    for (const auto& result : op.results)
        if (needed.contains(result.name)) {
            holes.lists["result"].push_back(array_holes(result.name, result.type));
            arguments.push_back(kept ? "row_results[v]." + cuda_identifier(result.name)
                                     : "of_" + cuda_identifier(result.name) + ".at[v]");
            holes.values["row_results"] = "row_results";
        }
    for (const std::string place : {"index", "position", "segment", "length"}) {
        if (needed.contains(place))
            arguments.push_back(place);
        holes.values[place] = loaded.contains(place) ? " " + place : "";
    }
    for (const auto place : output_places(op, *op.map))
        holes.lists["output"].push_back(array_holes(op.outputs[place].name, op.outputs[place].type));
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
    return holes;
}

}  // namespace

std::set<std::string> names_of_place(const RowRead& read)
{
    std::set<std::string> names;
    add_names_in(read.index, names);
    return names;
}

std::string place_function(const Problem& problem, const RowOperator& rows, const RowRead& read,
                           Dialect dialect)
{
    const CudaPrinter printer(rows.op, problem.index_bits, problem.checked_tables, dialect);
    const auto names = names_of_place(read);
    std::vector<std::string> parameters;
    for (const auto& parameter : rows.op.parameters)
        if (names.contains(parameter.name))
            parameters.push_back(function_parameter(problem.checked_tables, parameter));
    for (const std::string place : kPlacesOfMap)
        if (names.contains(place))
            parameters.push_back("Index " + place);
    const auto is_one_of = [&](const std::vector<RowRead>& reads) {
        return std::ranges::find(reads, read.column, &RowRead::column) != reads.end();
    };
    return fmt::format(
        "// The entry of {} that {} reads.\n"
        "{} i64 place_in_{}({})\n{{\n    return i64({});\n}}\n",
        read.table,
        is_one_of(rows.reads)       ? "lift"
        : is_one_of(rows.map_reads) ? "map"
                                    : "scan",
        function_kind(dialect), read.column, fmt::join(parameters, ", "), printer.expression(read.index));
}

std::string place_call(const RowOperator& rows, const RowRead& read,
                       const std::function<std::string(const std::string&)>& column_value)
{
    const auto names = names_of_place(read);
    std::vector<std::string> arguments;
    for (const auto& parameter : rows.op.parameters)
        if (names.contains(parameter.name))
            arguments.push_back(parameter.table ? "inputs." + cuda_identifier(parameter.name)
                                                : column_value(parameter.name));
    for (const std::string place : kPlacesOfMap)
        if (names.contains(place))
            arguments.push_back(place);
    return fmt::format("place_in_{}({})", read.column, fmt::join(arguments, ", "));
}

std::string place_call(const RowOperator& rows, const RowRead& read)
{
    return place_call(rows, read, [](const std::string& column) { return "row." + cuda_identifier(column); });
}

std::vector<Piece> rows_section(const Problem& problem, const RowOperator& rows)
{
    if (!has_rows(problem.op))
        return {};
    const auto parameter = [&](const std::string& name) {
        return std::ranges::find(problem.op.parameters, name, &Parameter::name);
    };
    const auto reads = reads_of_row(rows);
    std::set<std::string> places;
    for (const auto& read : reads)
        places.merge(names_of_place(read));
    const auto scanned = rows.op.scan ? names_of_map(rows.op.scan->block) : std::set<std::string>();

    std::set<Type> types;
    std::set<std::string> held;  // the columns in a Row
    Holes holes{{}, {{"number", {}}, {"row", {}}, {"read", {}}, {"pointer", {}}, {"result", {}}}};
    std::vector<std::string> arguments;
    bool uses_inputs = false, uses_row = false;
    const auto add_pointer = [&](const std::string& place, Type type) {
        holes.lists["pointer"].push_back({{{"place", place}, {"word", std::string(segfold::name(type))}}});
        types.insert(type);
    };
    for (const auto& column : rows.op.parameters) {
        const auto given = parameter(column.name);
        const auto name = cuda_identifier(column.name);
        const bool is_read = given == problem.op.parameters.end();
        const bool is_lifted = lift_uses(rows.op, column);
        if (column.table) {
            if (is_lifted) {
                arguments.push_back("inputs." + name);
                uses_inputs = true;
            }
            continue;
        }
        if (!is_lifted && !scanned.contains(column.name) && !places.contains(column.name))
            continue;
        const bool is_row = is_read || given->row;
        held.insert(column.name);
        if (is_row && !is_read) {
            holes.lists["row"].push_back(array_holes(column.name, column.type));
            add_pointer("inputs." + name, column.type);
        } else if (!is_row) {
            holes.lists["number"].push_back(array_holes(column.name, column.type));
        }
        if (is_lifted) {
            arguments.push_back("row." + name + (is_row ? ".at[v]" : ""));
            uses_row = true;
        }
    }
    for (const auto& read : reads) {
        auto array = array_holes(read.column, parameter(read.table)->type);
        const auto table = cuda_identifier(read.table);
        array.values["table"] = table;
        array.values["place"] = place_call(rows, read);
        array.lists = {{"checked", {}}, {"trusted", {}}};
        array.lists[is_checked_table(problem, read.table) ? "checked" : "trusted"].push_back({{}});
        holes.lists["read"].push_back(std::move(array));
        add_pointer("inputs." + table + (is_checked_table(problem, read.table) ? ".at" : ""),
                    parameter(read.table)->type);
    }
    for (const auto& result : problem.op.results) {
        holes.lists["result"].push_back(array_holes(result.name, result.type));
        add_pointer("results." + cuda_identifier(result.name), result.type);
    }
    for (const auto& output : problem.op.outputs)
        add_pointer("results." + cuda_identifier(output.name), output.type);
    for (const auto& column : problem.op.parameters) {
        const bool is_mapped = problem.op.map && uses_name(*problem.op.map, column.name);
        if (column.row && !column.table && is_mapped && !lift_uses(rows.op, column))
            add_pointer("inputs." + cuda_identifier(column.name), column.type);
    }
    const auto is_in_row = [&](const RowRead& read) {
        return std::ranges::find(reads, read.column, &RowRead::column) != reads.end();
    };
    for (const auto& read : rows.map_reads)
        if (!is_in_row(read))
            add_pointer("inputs." + cuda_identifier(read.table) +
                            (is_checked_table(problem, read.table) ? ".at" : ""),
                        parameter(read.table)->type);
    const auto word = [](bool used, const char* name) { return used ? std::string(" ") + name : ""; };
    auto numbers = holes;
    const bool has_numbers = !holes.lists["number"].empty();
    numbers.values = {{"row", word(has_numbers, "row")},
                      {"inputs", word(has_numbers, "inputs")},
                      {"index", word(has_numbers, "index")}};
    const auto shuffled = [&](auto is_moved) {
        Holes shuffles{{}, {{"number", {}}}};
        for (const auto& column : rows.op.parameters) {
            const auto given = parameter(column.name);
            if (given == problem.op.parameters.end() || given->row || column.table || !is_moved(column))
                continue;
            const auto name = cuda_identifier(column.name);
            shuffles.lists["number"].push_back(
                {{{"name", name},
                  {"value", shuffle_call(column.type, "held." + name, "__shfl_sync", "mask", "lane")}}});
        }
        for (const auto* name : {"row", "held", "mask", "lane"})
            shuffles.values[name] = word(!shuffles.lists["number"].empty(), name);
        return shuffles;
    };
    auto place_numbers = shuffled([&](const Parameter& column) { return places.contains(column.name); });
    place_numbers.values.insert(
        {{"function", "shuffle_places"}, {"purpose", "the places of rows follow from"}});
    auto lift_numbers = shuffled([&](const Parameter& column) { return lift_uses(rows.op, column); });
    lift_numbers.values.insert({{"function", "shuffle_lifted"}, {"purpose", "are lifted"}});
    auto loads = holes;
    loads.values = {{"index", word(!holes.lists["row"].empty() || places.contains("index"), "index")},
                    {"position", word(places.contains("position"), "position")},
                    {"segment", word(places.contains("segment"), "segment")}};
    const bool has_checked =
        std::ranges::any_of(reads, [&](const auto& r) { return is_checked_table(problem, r.table); });
    auto finds = holes;
    finds.values = {{"row", word(has_checked, "row")}, {"inputs", word(has_checked, "inputs")}};
    for (const std::string place : {"index", "position", "segment"})
        finds.values[place] = word(has_checked && places.contains(place), place.c_str());
    auto lifts = holes;
    lifts.values = {
        {"inputs", word(uses_inputs, "inputs")},
        {"row", word(uses_row, "row")},
        {"v",
         word(std::ranges::any_of(arguments, [](const auto& a) { return a.ends_with(".at[v]"); }), "v")}};
    for (const std::string place : {"index", "position", "segment"}) {
        const bool used = uses_name(rows.op.lift, place);
        if (used)
            arguments.push_back(place);
        lifts.values[place] = word(used, place.c_str());
    }
    lifts.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));

    std::vector<Piece> pieces;
    const auto add = [&](const std::string& name, const std::string& text, const std::string& second = "") {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration, second});
    };
    Holes width{{}, {{"narrow", {}}, {"wide", {}}}};
    width.lists[problem.index_bits == 32 ? "narrow" : "wide"].push_back({});
    add("rows_apart", vocabulary("rows.cuh", "rows_apart", width));
    for (const auto type : types) {
        const auto array = array_holes("", type);
        add("Features_" + std::string(name(type)), vocabulary("rows.cuh", "features", array));
    }
    add("Row", vocabulary("rows.cuh", "Row", holes));
    add("load_numbers", vocabulary("rows.cuh", "load_numbers", numbers));
    add("shuffle_places", vocabulary("rows.cuh", "shuffle_numbers", place_numbers));
    add("shuffle_lifted", vocabulary("rows.cuh", "shuffle_numbers", lift_numbers));
    for (const auto& read : reads)
        add("place_in_" + read.column, place_function(problem, rows, read, Dialect::cuda));
    add("find_rows", vocabulary("rows.cuh", "find_rows", finds));
    add("load_rows", vocabulary("rows.cuh", "load_rows", loads));
    add("lift_row", vocabulary("rows.cuh", "lift_row", lifts));
    for (const auto* name : {"rows_are_vectors", "store_row", "store_feature", "store_results"})
        add(name, vocabulary("rows.cuh", name, holes));
    if (problem.op.map) {
        std::set<std::pair<Type, bool>> entries;  // types of tables of rows, and whether they are checked
        for (const auto& read : rows.map_reads) {
            if (!is_in_row(read))
                add("place_in_" + read.column, place_function(problem, rows, read, Dialect::cuda));
            entries.emplace(parameter(read.table)->type, is_checked_table(problem, read.table));
        }
        for (const auto& [type, checked] : entries) {
            auto array = array_holes("", type);
            array.values["table"] = table_name(type);
            add("load_entry",
                vocabulary("rows.cuh", checked ? "load_entry of a checked table" : "load_entry", array));
        }
        add("map_row", vocabulary("rows.cuh", "map_row", map_holes(problem, rows, false, held)));
        const auto [row, results] = map_load_holes(problem);
        for (const auto* name : {"MapRow", "load_map_row"})
            add(name, vocabulary("rows.cuh", name, row));
        add("load_row_results", vocabulary("rows.cuh", "load_row_results", results));
        const auto add_kept = [&](const char* name, const char* type, const char* reader,
                                  const std::set<std::string>& columns) {
            auto kept = map_holes(problem, rows, true, columns);
            kept.values.insert({{"function", name}, {"row_type", type}, {"reader", reader}});
            add(name, vocabulary("rows.cuh", "map_kept", kept));
        };
        add_kept("map_kept", "Row", "lift", held);
        add_kept("map_loaded", "MapRow", "map", columns_of_map(problem.op));
    }
    return pieces;
}

}  // namespace segfold
