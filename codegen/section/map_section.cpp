#include "codegen/section/map_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/print/cuda_names.h"
#include "codegen/print/cuda_printer.h"
#include "codegen/section/tile_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

constexpr int kMapVectorBytes = 16;  ///< bytes of the widest memory access

/// Names of the emitted functions and types for elements that `map` writes; scan_section.cpp has the names
/// for `scan`.
const std::map<std::string, std::string, std::less<>> kMapNames = {{"who", "map"},
                                                                   {"num_items", "kMapItems"},
                                                                   {"items_type", "MapItems"},
                                                                   {"load", "load_map_items"},
                                                                   {"outputs_type", "MapOutputs"},
                                                                   {"keep", "keep_output"},
                                                                   {"store", "store_outputs"},
                                                                   {"mapped", "Mapped"}};

/// Adds the names that the expression uses, tables included.
void add_names_of(const Expression& expression, std::set<std::string>& names)
{
    if (expression->kind == ExpressionKind::name || expression->kind == ExpressionKind::gather)
        names.insert(expression->name);
    for (const auto& argument : expression->arguments)
        add_names_of(argument, names);
}

/// Returns the definitions of the locals in `block` for which `is_here` is true. Omits locals that are not in
/// `used`, except locals that read a table. Those must be evaluated, because they report reads past the
/// table's end.
template <class IsHere>
std::string definitions(const Problem& problem, const Operator& op, const Block& block, const IsHere& is_here,
                        const std::set<std::string>& used, Dialect dialect = Dialect::cuda)
{
    const CudaPrinter printer(op, problem.index_bits, problem.checked_tables, dialect);
    std::string text;
    for (const auto& let : block.lets)
        if (is_here(let.name) && (used.contains(let.name) || gathers(let.value)))
            text += fmt::format(
                "    {}const {} {} = {};\n", used.contains(let.name) ? "" : "[[maybe_unused]] ",
                cuda_name(*let.value->type), cuda_identifier(let.name), printer.expression(let.value));
    return text;
}

/// Emits a function that begins with the statements `lets` and returns the values that `block` assigns.
std::string outputs_function(const Problem& problem, const Operator& op, const Block& block,
                             const ElementFunction& function, const std::string& lets, Dialect dialect)
{
    const CudaPrinter printer(op, problem.index_bits, problem.checked_tables, dialect);
    std::vector<std::string> values;
    for (const auto& assignment : block.assignments)
        values.push_back(printer.expression(assignment.value));
    return fmt::format(
        "// What an element gets, from the {}.\n"
        "{} {} {}({})\n{{\n{}    return {{{}}};\n}}\n",
        function.source, function_kind(dialect), function.type, function.name,
        fmt::join(function.parameters, ", "), lets, fmt::join(values, ", "));
}

/// Selects the signatures of functions. They have the parameter `inputs` only if map reads a table or a
/// scalar.
void add_signatures(Holes& holes, const Operator& op)
{
    for (const auto* list : {"with_tables", "without_tables"})
        holes.lists[list] = {};
    holes.lists[uses_tables(*op.map) ? "with_tables" : "without_tables"].push_back({});
}

/// Returns the locals of map that have the same value for all elements of a segment.
std::vector<const Let*> lets_of_segment(const Operator& op)
{
    std::set<std::string> known = {"segment", "length"};
    for (const auto& result : op.results)
        known.insert(result.name);
    for (const auto& parameter : op.parameters)
        if (parameter.table)
            known.insert(parameter.name);
    std::vector<const Let*> lets;
    for (const auto& let : op.map->lets) {
        std::set<std::string> names;
        add_names_of(let.value, names);
        if (!std::ranges::includes(known, names))
            continue;
        lets.push_back(&let);
        known.insert(let.name);
    }
    return lets;
}

/// The names in a `map`, grouped by their use.
struct NamesByPlace {
    std::vector<const Let*> lets;    ///< locals that are the same for all elements of a segment
    std::set<std::string> once;      ///< the names of these locals
    std::set<std::string> needed;    ///< names that each element's outputs need
    std::set<std::string> for_lets;  ///< names in those definitions of `lets` that must be emitted
};

NamesByPlace names_by_place(const Operator& op)
{
    NamesByPlace names{lets_of_segment(op), {}, {}, {}};
    for (const auto* let : names.lets)
        names.once.insert(let->name);
    for (const auto& assignment : op.map->assignments)
        add_names_of(assignment.value, names.needed);
    for (auto let = op.map->lets.rbegin(); let != op.map->lets.rend(); ++let)
        if (!names.once.contains(let->name) && (names.needed.contains(let->name) || gathers(let->value)))
            add_names_of(let->value, names.needed);
    for (auto let = names.lets.rbegin(); let != names.lets.rend(); ++let)
        if (names.needed.contains((*let)->name) || names.for_lets.contains((*let)->name) ||
            gathers((*let)->value))
            add_names_of((*let)->value, names.for_lets);
    return names;
}

/// Adds the pieces for stages that map the elements of a tile. Once for each segment, the emitted code
/// computes the segment's results and the locals that are the same for all its elements.
void add_segment_values(std::vector<Piece>& pieces, const Problem& problem, const Operator& op, int num_items)
{
    const auto [lets, once, needed, for_lets] = names_by_place(op);

    Holes holes{{{"items", ""}, {"k", ""}, {"values", ""}}, {{"value", {}}}};
    for (const auto* name : {"index", "position", "segment", "length"})
        holes.values[name] = "";
    std::vector<std::string> parameters, arguments, values;
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        const auto array = holes_of_array(column.name, column.type, "MapChunk_", num_items);
        parameters.push_back(cuda_name(column.type) + " " + cuda_identifier(column.name));
        arguments.push_back(fmt::format("items.{0}[k / {1}].at[k % {1}]", cuda_identifier(column.name),
                                        array.values.find("chunk_items")->second));
        holes.values["items"] = " items";
        holes.values["k"] = " k";
    }
    const auto tables = tables_of_map(problem, needed);
    std::ranges::copy(tables.parameters, std::back_inserter(parameters));
    std::ranges::copy(tables.arguments, std::back_inserter(arguments));
    const auto tables_of_values = tables_of_map(problem, for_lets);
    holes.values["item_inputs"] = tables.arguments.empty() ? "" : " inputs";
    holes.values["values_inputs"] = tables_of_values.arguments.empty() ? "" : " inputs";
    add_signatures(holes, op);
    const auto add_value = [&](const std::string& field, Type type) {
        const auto name = cuda_identifier(field);
        holes.lists["value"].push_back({{{"name", name}, {"type", cuda_name(type)}}});
        parameters.push_back(cuda_name(type) + " " + name);
        arguments.push_back("values." + name);
        values.push_back(name);
        holes.values["values"] = " values";
    };
    std::string given;
    for (std::size_t i = 0; i < tables_of_values.parameters.size(); ++i)
        given += fmt::format("    {} = {};\n", tables_of_values.parameters[i], tables_of_values.arguments[i]);
    for (const auto& result : op.results) {
        const auto name = cuda_identifier(result.name);
        if (needed.contains(result.name) || for_lets.contains(result.name))
            given += fmt::format("    const {} {} = results.{};\n", cuda_name(result.type), name, name);
        if (needed.contains(result.name))
            add_value(result.name, result.type);
    }
    for (const auto* let : lets)
        if (needed.contains(let->name))
            add_value(let->name, *let->value->type);
    for (const std::string place : {"index", "position", "segment", "length"}) {
        if (!needed.contains(place))
            continue;
        parameters.push_back("Index " + place);
        arguments.push_back(place);
        holes.values[place] = " " + place;
    }
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
    holes.values["returned"] = fmt::format("{}", fmt::join(values, ", "));
    auto used_once = for_lets;
    used_once.insert(needed.begin(), needed.end());
    holes.values["definitions"] =
        given +
        definitions(
            problem, op, *op.map, [&](const std::string& name) { return once.contains(name); }, used_once);
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    for (const auto* name : {"SegmentValues", "segment_values"})
        add(name, vocabulary("map.cuh", name, holes));
    const auto of_elements = definitions(
        problem, op, *op.map, [&](const std::string& name) { return !once.contains(name); }, needed);
    add("map_with_values",
        outputs_function(problem, op, *op.map,
                         {"Mapped", "map_with_values", parameters, "values of its segment"}, of_elements,
                         Dialect::cuda));
    add("map_tile_item", vocabulary("map.cuh", "map_tile_item", holes));
}

}  // namespace

std::string map_element_function(const Problem& problem, const std::vector<std::string>& parameters,
                                 Dialect dialect)
{
    const auto op = mapped_operator(problem.op);
    return element_function(problem, op, *op.map,
                            {"Mapped", "map_element", parameters, "results of its segment"}, dialect);
}

std::string element_function(const Problem& problem, const Operator& op, const Block& block,
                             const ElementFunction& function, Dialect dialect)
{
    const auto lets = definitions(
        problem, op, block, [](const std::string&) { return true; }, names_of_map(block), dialect);
    return outputs_function(problem, op, block, function, lets, dialect);
}

Holes holes_of_array(const std::string& name, Type type, const char* chunk, int num_items)
{
    const int bytes = size_bytes(type);
    const int items = std::min(num_items, kMapVectorBytes / bytes);
    Holes holes{{{"name", cuda_identifier(name)},
                 {"type", cuda_name(type)},
                 {"map_chunk", chunk + name},
                 {"chunk_items", std::to_string(items)},
                 {"chunk_bytes", std::to_string(bytes * items)},
                 {"num_chunks", std::to_string(num_items / items)}}};
    for (int i = 0; i < num_items / items; ++i)
        holes.lists["chunk"].push_back(
            {{{"i", std::to_string(i)}, {"plus_items", i == 0 ? "" : fmt::format(" + {}", i * items)}}});
    return holes;
}

Holes holes_of_outputs(const Operator& op, const Block& block, int num_items)
{
    Holes holes{{}, {{"output", {}}}};
    for (const auto place : output_places(op, block))
        holes.lists["output"].push_back(
            holes_of_array(op.outputs[place].name, op.outputs[place].type, "OutputChunk_", num_items));
    return holes;
}

Operator mapped_operator(const Operator& op) { return has_rows(op) ? with_reads_as_columns(op).op : op; }

bool uses_tables(const Block& block)
{
    const auto reads = [](const auto& said) { return gathers(said.value); };
    return std::ranges::any_of(block.lets, reads) || std::ranges::any_of(block.assignments, reads);
}

TablesOfMap tables_of_map(const Problem& problem, const std::set<std::string>& needed)
{
    TablesOfMap tables;
    for (const auto& table : problem.op.parameters) {
        if (!table.table || !needed.contains(table.name))
            continue;
        tables.parameters.push_back(function_parameter(problem.checked_tables, table));
        tables.arguments.push_back("inputs." + cuda_identifier(table.name));
        tables.gathers = tables.gathers || !table.scalar;
    }
    return tables;
}

std::set<std::string> names_of_map(const Block& map)
{
    std::set<std::string> names;
    for (const auto& assignment : map.assignments)
        add_names_of(assignment.value, names);
    for (auto let = map.lets.rbegin(); let != map.lets.rend(); ++let)
        if (names.contains(let->name) || gathers(let->value))
            add_names_of(let->value, names);
    return names;
}

std::int64_t value_bytes(const Operator& op)
{
    if (!op.map)
        return 0;
    const auto names = names_by_place(op);
    std::int64_t bytes = 0, widest = 1;
    const auto add = [&](const std::string& name, Type type) {
        if (!names.needed.contains(name))
            return;
        const std::int64_t size = size_bytes(type);
        bytes = (bytes + size - 1) / size * size + size;
        widest = std::max(widest, size);
    };
    for (const auto& result : op.results)
        add(result.name, result.type);
    for (const auto* let : names.lets)
        add(let->name, *let->value->type);
    return (bytes + widest - 1) / widest * widest;
}

std::vector<Piece> map_section(const Problem& problem, int num_items)
{
    if (!problem.op.map)
        return {};
    const auto op = mapped_operator(problem.op);
    const auto needed = names_of_map(*op.map);
    Holes holes{kMapNames, {{"column", {}}, {"result", {}}}};
    for (const auto* name :
         {"inputs", "index", "count", "items", "k", "total", "position", "segment", "length"})
        holes.values[name] = "";
    auto loads = holes;
    std::vector<std::string> parameters, arguments;
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        auto array = holes_of_array(column.name, column.type, "MapChunk_", num_items);
        const auto items = array.values.find("chunk_items")->second;
        loads.lists["column"].push_back(array);
        parameters.push_back(cuda_name(column.type) + " " + cuda_identifier(column.name));
        arguments.push_back(
            fmt::format("items.{0}[k / {1}].at[k % {1}]", cuda_identifier(column.name), items));
        for (const auto* name : {"items", "k"})
            holes.values[name] = std::string(" ") + name;
        for (const auto* name : {"inputs", "index", "count"})
            loads.values[name] = std::string(" ") + name;
    }
    const auto tables = tables_of_map(problem, needed);
    std::ranges::copy(tables.parameters, std::back_inserter(parameters));
    std::ranges::copy(tables.arguments, std::back_inserter(arguments));
    holes.values["item_inputs"] = tables.arguments.empty() ? "" : " inputs";
    add_signatures(holes, op);
    for (const auto& result : op.results) {
        if (!needed.contains(result.name))
            continue;
        const auto name = cuda_identifier(result.name);
        holes.lists["result"].push_back({{{"name", name}, {"type", cuda_name(result.type)}}});
        parameters.push_back(cuda_name(result.type) + " " + name);
        arguments.push_back("total." + name);
        holes.values["total"] = " total";
    }
    for (const std::string place : {"index", "position", "segment", "length"}) {
        if (!needed.contains(place))
            continue;
        parameters.push_back("Index " + place);
        arguments.push_back(place);
        holes.values[place] = " " + place;
    }
    std::vector<std::string> aligned;
    holes.lists.merge(holes_of_outputs(op, *op.map, num_items).lists);
    for (const auto& output : holes.lists["output"]) {
        aligned.push_back(vocabulary("map.cuh", "output_is_aligned", output));
        aligned.back().pop_back();  // removes the newline
    }
    holes.values["aligned"] = fmt::format("{}", fmt::join(aligned, " && "));
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));

    std::vector<Piece> pieces = {
        {"kMapItems", fmt::format("constexpr int kMapItems = {};\n", num_items), Piece::Kind::constant}};
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    for (const auto* name : {"Finished", "finished", "Mapped"})
        add(name, vocabulary("map.cuh", name, holes));
    for (const auto* name : {"MapItems", "load_map_items"})
        add(name, vocabulary("map.cuh", name, loads));
    add("map_element", map_element_function(problem, parameters, Dialect::cuda));
    add_segment_values(pieces, problem, op, num_items);
    for (const auto* name : {"map_item", "MapOutputs", "keep_output", "store_outputs", "outputs_are_aligned",
                             "store_vectors", "store_output"})
        add(name, vocabulary("map.cuh", name, holes));
    return pieces;
}

std::vector<Piece> map_tile_section(const Problem& problem, const StepItems& step)
{
    const int num_items = step.are_mapped ? step.items : kMapItems;
    const auto& op = problem.op;
    if (!op.map)
        return {};
    const auto needed = names_of_map(*op.map);
    const auto lifted = lifted_columns(op);
    Holes holes{{}, {{"held", {}}, {"loaded", {}}}};
    for (const auto* name : {"tile", "step", "other", "inputs", "item", "index", "count"})
        holes.values[name] = "";
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        const bool is_held = std::ranges::count(lifted, &column) != 0;
        auto array = holes_of_array(column.name, column.type, "MapChunk_", num_items);
        array.values["bytes"] = std::to_string(size_bytes(column.type));
        array.values["held_item"] = item_of_step(column, step, "step." + cuda_identifier(column.name));
        holes.lists[is_held ? "held" : "loaded"].push_back(array);
        if (is_held)
            for (const auto* name : {"tile", "step", "item"})
                holes.values[name] = std::string(" ") + name;
        else
            for (const auto* name : {"other", "inputs", "index", "count"})
                holes.values[name] = std::string(" ") + name;
    }
    std::vector<Piece> pieces;
    for (const auto* name : {"take_map_items", "OtherItems", "load_other_items", "map_items_of"})
        pieces.push_back({name, break_lines(vocabulary("map.cuh", name, holes)), Piece::Kind::declaration});
    return pieces;
}

}  // namespace segfold
