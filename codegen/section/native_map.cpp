#include "codegen/section/native_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "codegen/print/cuda_names.h"
#include "codegen/section/map_section.h"
#include "codegen/section/rows_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

/// The parameters of map_element(), and the arguments that pass columns of numbers or of rows.
struct MapArguments {
    std::vector<std::string> parameters, given;
};

/// Text that reads the current feature of the row that `read` takes from a table.
std::string feature_of(const Problem& problem, const RowOperator& rows, const RowRead& read)
{
    const auto table = "inputs." + cuda_identifier(read.table);
    const auto place = place_call(rows, read, [](const std::string& column) {
        return "inputs." + cuda_identifier(column) + "[index]";
    });
    const bool is_checked =
        std::ranges::find(problem.checked_tables, read.table) != problem.checked_tables.end();
    return is_checked ? fmt::format("gather_feature({}, {}, feature, num_features)", table, place)
                      : fmt::format("{}[{} * num_features + feature]", table, place);
}

MapArguments map_arguments(const Problem& problem, const RowOperator& rows, Holes& holes)
{
    const auto& op = problem.op;
    const auto needed = names_of_map(*rows.op.map);
    const bool is_rows = has_rows(op);
    MapArguments arguments;
    const auto add = [&](const std::string& name, Type type, const std::string& given) {
        arguments.parameters.push_back(cuda_name(type) + " " + cuda_identifier(name));
        arguments.given.push_back(given);
    };
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        add(column.name, column.type,
            fmt::format("inputs.{}[{}]", cuda_identifier(column.name), column.row ? "place" : "index"));
        holes.values["inputs"] = " inputs";
    }
    for (const auto& column : rows.op.parameters) {
        const auto read = std::ranges::find(rows.map_reads, column.name, &RowRead::column);
        if (read == rows.map_reads.end())
            continue;
        const auto value = feature_of(problem, rows, *read);
        if (needed.contains(column.name))
            add(column.name, column.type, value);
        else if (value.starts_with("gather"))  // of a checked table
            holes.lists["seen"].push_back({{{"value", value}}});
        else
            continue;
        holes.values["inputs"] = " inputs";
    }
    const auto tables = tables_of_map(problem, needed);
    std::ranges::copy(tables.parameters, std::back_inserter(arguments.parameters));
    std::ranges::copy(tables.arguments, std::back_inserter(arguments.given));
    if (!tables.arguments.empty())
        holes.values["inputs"] = " inputs";
    for (const auto& result : op.results) {
        if (!needed.contains(result.name))
            continue;
        const auto name = cuda_identifier(result.name);
        add(result.name, result.type, is_rows ? "results." + name + "[total]" : "total." + name);
        holes.lists["result"].push_back({{{"name", name}, {"type", cuda_name(result.type)}}});
        for (const auto* used : {"total", "results"})
            holes.values[used] = std::string(" ") + used;
    }
    const auto all = names_of_map(*op.map);  // also the names that select rows of tables
    for (const std::string place : {"index", "position", "segment", "length"}) {
        if (all.contains(place))
            holes.values[place] = " " + place;
        if (!needed.contains(place))
            continue;
        arguments.parameters.push_back("Index " + place);
        arguments.given.push_back(place);
    }
    return arguments;
}

}  // namespace

std::vector<Piece> native_map_section(const Problem& problem)
{
    if (!problem.op.map)
        return {};
    const auto rows =
        has_rows(problem.op) ? with_reads_as_columns(problem.op) : RowOperator{problem.op, {}, {}};
    Holes holes{{}, {{"result", {}}, {"output", {}}, {"seen", {}}}};
    for (const auto* name : {"inputs", "results", "total", "position", "segment", "length"})
        holes.values[name] = "";
    const auto [parameters, given] = map_arguments(problem, rows, holes);
    holes.values["arguments"] = fmt::format("{}", fmt::join(given, ", "));
    for (const auto& output : problem.op.outputs)
        holes.lists["output"].push_back(
            {{{"name", cuda_identifier(output.name)}, {"type", cuda_name(output.type)}}});
    auto finished = holes;
    finished.values["segment"] = holes.lists["result"].empty() ? "" : " segment";

    std::vector<Piece> pieces;
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    add("Finished", vocabulary("map.cuh", "Finished", holes));
    add("finished", vocabulary("map.h", "finished", finished));
    add("Mapped", vocabulary("map.cuh", "Mapped", holes));
    add("map_element", map_element_function(problem, parameters, Dialect::native));
    std::set<Type> types;  // of features of checked tables
    for (const auto& read : rows.map_reads) {
        add(("place_in_" + read.column).c_str(), place_function(problem, rows, read, Dialect::native));
        types.insert(std::ranges::find(problem.op.parameters, read.table, &Parameter::name)->type);
    }
    for (const auto type : types)
        add("gather_feature", vocabulary("map.h", "gather_feature",
                                         {{{"type", cuda_name(type)}, {"table", table_name(type)}}}));
    for (const auto* name : {"map_item", "map_feature"})
        add(name, vocabulary("map.h", name, holes));
    return pieces;
}

}  // namespace segfold
