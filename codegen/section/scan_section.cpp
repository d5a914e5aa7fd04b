#include "codegen/section/scan_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "codegen/print/cuda_names.h"
#include "codegen/section/map_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

bool reads(const Expression& expression, Operand state)
{
    return (expression->kind == ExpressionKind::field && expression->operand == state) ||
           std::ranges::any_of(expression->arguments,
                               [&](const Expression& argument) { return reads(argument, state); });
}

bool reads(const Block& block, Operand state)
{
    const auto is_read = [&](const auto& said) { return reads(said.value, state); };
    return std::ranges::any_of(block.lets, is_read) || std::ranges::any_of(block.assignments, is_read);
}

}  // namespace

ScannedStates scanned_states(Operator op)
{
    ScannedStates states;
    const auto& scan = *op.scan;
    op.earlier = scan.before;
    op.later = scan.through;
    for (const auto& [operand, name, argument] :
         {std::tuple(Operand::earlier, scan.before, "before"), {Operand::later, scan.through, "through"}}) {
        if (!reads(scan.block, operand))
            continue;
        states.parameters.push_back("State " + cuda_identifier(name));
        states.arguments.emplace_back(argument);
    }
    states.op = std::move(op);
    return states;
}

namespace {

/// Returns the pieces for an operator over rows.
std::vector<Piece> row_pieces(const Problem& problem, const RowOperator& rows)
{
    auto [op, parameters, arguments] = scanned_states(rows.op);
    const auto needed = names_of_map(op.scan->block);
    Holes holes{{}, {{"output", {}}}};
    for (const auto* name : {"inputs", "row", "v", "before", "through", "index", "position", "segment"})
        holes.values[name] = "";
    const auto use = [&](const std::string& name) { holes.values[name] = " " + name; };
    for (const auto& state : arguments)
        use(state);
    for (const auto& column : rows.op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        const auto given = std::ranges::find(problem.op.parameters, column.name, &Parameter::name);
        const bool is_row = given == problem.op.parameters.end() || given->row;
        const auto name = cuda_identifier(column.name);
        parameters.push_back(cuda_name(column.type) + " " + name);
        arguments.push_back("row." + name + (is_row ? ".at[v]" : ""));
        use("row");
        if (is_row)
            use("v");
    }
    const auto tables = tables_of_map(problem, needed);
    std::ranges::copy(tables.parameters, std::back_inserter(parameters));
    std::ranges::copy(tables.arguments, std::back_inserter(arguments));
    if (!tables.arguments.empty())
        use("inputs");
    for (const std::string place : {"index", "position", "segment"}) {
        if (!needed.contains(place))
            continue;
        parameters.push_back("Index " + place);
        arguments.push_back(place);
        use(place);
    }
    for (const auto place : output_places(op, op.scan->block)) {
        const auto& output = op.outputs[place];
        holes.lists["output"].push_back({{{"name", cuda_identifier(output.name)},
                                          {"type", cuda_name(output.type)},
                                          {"word", std::string(name(output.type))}}});
    }
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
    holes.values["mapped"] = "Scanned";

    std::vector<Piece> pieces;
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    add("Scanned", vocabulary("map.cuh", "Mapped", holes));
    add("scan_element", element_function(problem, op, op.scan->block,
                                         {"Scanned", "scan_element", parameters,
                                          "states of its segment before it and with it"},
                                         Dialect::cuda));
    add("scan_row", vocabulary("scan.cuh", "scan_row", holes));
    add("ScannedRow", vocabulary("scan.cuh", "ScannedRow", holes));
    add("keep_scanned", vocabulary("scan.cuh", "keep_scanned of a row", holes));
    add("store_scanned", vocabulary("scan.cuh", "store_scanned of a row", holes));
    return pieces;
}

/// Returns the pieces for an operator over columns.
std::vector<Piece> column_pieces(const Problem& problem)
{
    const auto& block = problem.op.scan->block;
    const auto needed = names_of_map(block);
    auto [op, parameters, arguments] = scanned_states(problem.op);
    Holes holes = holes_of_outputs(op, block);
    holes.values = {{"who", "scan"},
                    {"num_items", "kScanItems"},
                    {"items_type", "ScanItems"},
                    {"load", "load_scan_items"},
                    {"outputs_type", "ScanOutputs"},
                    {"keep", "keep_scanned"},
                    {"store", "store_scanned"},
                    {"mapped", "Scanned"}};
    holes.lists["column"] = {};
    for (const auto* name : {"inputs", "item_inputs", "items", "k", "count", "before", "through", "index",
                             "position", "segment"})
        holes.values[name] = "";
    auto loads = holes;
    for (const auto& state : arguments)
        holes.values[state] = " " + state;
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        const auto name = cuda_identifier(column.name);
        const auto array = holes_of_array(column.name, column.type, "ScanChunk_");
        loads.lists["column"].push_back(array);
        parameters.push_back(cuda_name(column.type) + " " + name);
        arguments.push_back(
            fmt::format("items.{0}[k / {1}].at[k % {1}]", name, array.values.find("chunk_items")->second));
        holes.values["items"] = " items";
        holes.values["k"] = " k";
        for (const auto* used : {"inputs", "index", "count"})
            loads.values[used] = std::string(" ") + used;
    }
    const auto tables = tables_of_map(problem, needed);
    std::ranges::copy(tables.parameters, std::back_inserter(parameters));
    std::ranges::copy(tables.arguments, std::back_inserter(arguments));
    if (!tables.arguments.empty())
        holes.values["item_inputs"] = " inputs";
    for (const std::string place : {"index", "position", "segment"}) {
        if (!needed.contains(place))
            continue;
        parameters.push_back("Index " + place);
        arguments.push_back(place);
        holes.values[place] = " " + place;
    }
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));

    std::vector<Piece> pieces = {
        {"kScanItems", fmt::format("constexpr int kScanItems = {};\n", kMapItems), Piece::Kind::constant}};
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    add("Scanned", vocabulary("map.cuh", "Mapped", holes));
    add("ScanItems", vocabulary("map.cuh", "MapItems", loads));
    add("load_scan_items", vocabulary("map.cuh", "load_map_items", loads));
    add("scan_element", element_function(problem, op, block,
                                         {"Scanned", "scan_element", parameters,
                                          "states of its segment before it and with it"},
                                         Dialect::cuda));
    add("scan_item", vocabulary("scan.cuh", "scan_item", holes));
    add("ScanOutputs", vocabulary("map.cuh", "MapOutputs", holes));
    add("keep_scanned", vocabulary("map.cuh", "keep_output", holes));
    add("store_scanned", vocabulary("map.cuh", "store_outputs", holes));
    return pieces;
}

}  // namespace

std::vector<Piece> scan_section(const Problem& problem, const RowOperator& rows)
{
    if (!problem.op.scan)
        return {};
    return has_rows(problem.op) ? row_pieces(problem, rows) : column_pieces(problem);
}

std::vector<Piece> scan_tile_section(const Problem& problem)
{
    if (!problem.op.scan || has_rows(problem.op))
        return {};
    auto holes = holes_of_outputs(problem.op, problem.op.scan->block);
    for (auto& output : holes.lists["output"])
        output.values["bytes"] =
            std::to_string(std::stoi(output.values["chunk_bytes"]) / std::stoi(output.values["chunk_items"]));
    std::vector<Piece> pieces;
    for (const auto* name : {"ScannedTile", "put_scanned", "store_scanned_tile"})
        pieces.push_back({name, break_lines(vocabulary("scan.cuh", name, holes)), Piece::Kind::declaration});
    return pieces;
}

std::int64_t scanned_bytes(const Operator& op)
{
    std::int64_t bytes = 0;
    if (op.scan)
        for (const auto place : output_places(op, op.scan->block))
            bytes += size_bytes(op.outputs[place].type);
    return bytes;
}

bool scan_needs_places(const Operator& op)
{
    if (!op.scan)
        return false;
    const auto needed = names_of_map(op.scan->block);
    return op.keeps_results || op.map || needed.contains("position") || needed.contains("segment") ||
           uses_name(op.lift, "position") || uses_name(op.lift, "segment");
}

}  // namespace segfold
