#include "codegen/section/native_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "codegen/print/cuda_names.h"
#include "codegen/section/map_section.h"
#include "codegen/section/rows_section.h"
#include "codegen/section/scan_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

/// Parameters of the function that maps or scans one element, and the arguments of its calls.
struct MapArguments {
    std::vector<std::string> parameters, given;
};

/// A block of `map` or `scan`.
struct ElementBlock {
    const Block& written;
    const Block& of_feature;            ///< the block for one feature; reads of tables of rows are columns
    const std::vector<RowRead>& reads;  ///< the table reads that `of_feature` has as columns
    std::vector<ResultField> results = {};  ///< results that the block may read
};

/// Returns the expression for the current feature of the row that `read` takes from a table.
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

MapArguments map_arguments(const Problem& problem, const RowOperator& rows, const ElementBlock& block,
                           Holes& holes)
{
    const auto& op = problem.op;
    const auto needed = names_of_map(block.of_feature);
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
        const auto read = std::ranges::find(block.reads, column.name, &RowRead::column);
        if (read == block.reads.end())
            continue;
        const auto value = feature_of(problem, rows, *read);
        if (needed.contains(column.name))
            add(column.name, column.type, value);
        else if (value.starts_with("gather"))  // reads a checked table
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
    for (const auto& result : block.results) {
        if (!needed.contains(result.name))
            continue;
        const auto name = cuda_identifier(result.name);
        add(result.name, result.type, is_rows ? "results." + name + "[total]" : "total." + name);
        holes.lists["result"].push_back({{{"name", name}, {"type", cuda_name(result.type)}}});
        for (const auto* used : {"total", "results"})
            holes.values[used] = std::string(" ") + used;
    }
    const auto all = names_of_map(block.written);  // also contains the names in indices of tables of rows
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

/// Adds the functions that compute indices into the tables of rows that map and scan read.
void add_reads(std::vector<Piece>& pieces, const Problem& problem, const RowOperator& rows)
{
    auto reads = rows.map_reads;
    for (const auto& read : rows.scan_reads)
        if (std::ranges::find(reads, read.column, &RowRead::column) == reads.end())
            reads.push_back(read);
    std::set<Type> types;  // element types of the tables that map and scan read
    const auto add = [&](const std::string& name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    for (const auto& read : reads) {
        add("place_in_" + read.column, place_function(problem, rows, read, Dialect::native));
        types.insert(std::ranges::find(problem.op.parameters, read.table, &Parameter::name)->type);
    }
    for (const auto type : types)
        add("gather_feature", vocabulary("map.h", "gather_feature",
                                         {{{"type", cuda_name(type)}, {"table", table_name(type)}}}));
}

Holes element_holes(const Problem& problem, const Block& block)
{
    auto holes = holes_of_outputs(problem.op, block);
    holes.lists["result"] = holes.lists["seen"] = {};
    for (const auto* name : {"inputs", "results", "total", "position", "segment", "length"})
        holes.values[name] = "";
    return holes;
}

void add_map(std::vector<Piece>& pieces, const Problem& problem, const RowOperator& rows)
{
    const auto& map = *problem.op.map;
    auto holes = element_holes(problem, map);
    holes.values["mapped"] = "Mapped";
    const auto [parameters, given] =
        map_arguments(problem, rows, {map, *rows.op.map, rows.map_reads, problem.op.results}, holes);
    holes.values["arguments"] = fmt::format("{}", fmt::join(given, ", "));
    auto finished = holes;
    finished.values["segment"] = holes.lists["result"].empty() ? "" : " segment";
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    add("Finished", vocabulary("map.cuh", "Finished", holes));
    add("finished", vocabulary("map.h", "finished", finished));
    add("Mapped", vocabulary("map.cuh", "Mapped", holes));
    add("map_element", map_element_function(problem, parameters, Dialect::native));
    add_reads(pieces, problem, rows);
    for (const auto* name : {"map_item", "map_feature"})
        add(name, vocabulary("map.h", name, holes));
}

void add_scan(std::vector<Piece>& pieces, const Problem& problem, const RowOperator& rows)
{
    const auto& scan = problem.op.scan->block;
    auto holes = element_holes(problem, scan);
    holes.values["mapped"] = "Scanned";
    holes.values["before"] = holes.values["through"] = "";
    auto [op, parameters, arguments] = scanned_states(rows.op);
    for (const auto& state : arguments)
        holes.values[state] = " " + state;
    const auto of_element = map_arguments(problem, rows, {scan, op.scan->block, rows.scan_reads}, holes);
    std::ranges::copy(of_element.parameters, std::back_inserter(parameters));
    std::ranges::copy(of_element.given, std::back_inserter(arguments));
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    add("Scanned", vocabulary("map.cuh", "Mapped", holes));
    add("scan_element", element_function(problem, op, op.scan->block,
                                         {"Scanned", "scan_element", parameters,
                                          "states of its segment before it and with it"},
                                         Dialect::native));
    if (!problem.op.map)
        add_reads(pieces, problem, rows);
    for (const auto* name : {"scan_item", "scan_feature"})
        add(name, vocabulary("scan.h", name, holes));
}

}  // namespace

std::vector<Piece> native_map_section(const Problem& problem, const RowOperator& rows)
{
    std::vector<Piece> pieces;
    if (problem.op.map)
        add_map(pieces, problem, rows);
    if (problem.op.scan)
        add_scan(pieces, problem, rows);
    return pieces;
}

}  // namespace segfold
