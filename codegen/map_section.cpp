#include "codegen/map_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/cuda_names.h"
#include "codegen/cuda_printer.h"
#include "codegen/line_break.h"
#include "codegen/vocabulary.h"

namespace segfold {
namespace {

constexpr int kMapItems = 4;         ///< consecutive elements of a thread
constexpr int kMapVectorBytes = 16;  ///< the widest access

/// What the texts of kernels/vocabulary/map.cuh ask of an array, and of each access to kMapItems of its
/// elements.
Holes holes_of_array(const std::string& name, Type type, const char* chunk)
{
    const int bytes = size_bytes(type);
    const int items = std::min(kMapItems, kMapVectorBytes / bytes);
    Holes holes{{{"name", cuda_identifier(name)},
                 {"type", cuda_name(type)},
                 {"map_chunk", chunk + name},
                 {"chunk_items", std::to_string(items)},
                 {"chunk_bytes", std::to_string(bytes * items)},
                 {"num_chunks", std::to_string(kMapItems / items)}}};
    for (int i = 0; i < kMapItems / items; ++i)
        holes.lists["chunk"].push_back(
            {{{"i", std::to_string(i)}, {"plus_items", i == 0 ? "" : fmt::format(" + {}", i * items)}}});
    return holes;
}

void add_names_of(const Expression& expression, std::set<std::string>& names)
{
    if (expression->kind == ExpressionKind::name)
        names.insert(expression->name);
    for (const auto& argument : expression->arguments)
        add_names_of(argument, names);
}

std::string map_element(const Problem& problem, const std::vector<std::string>& parameters,
                        const std::set<std::string>& needed)
{
    const CudaPrinter printer(problem.op, problem.index_bits);
    std::string body;
    for (const auto& let : problem.op.map->lets)
        if (needed.contains(let.name))
            body += fmt::format("    const {} {} = {};\n", cuda_name(*let.value->type),
                                cuda_identifier(let.name), printer.expression(let.value));
    std::vector<std::string> values;
    for (const auto& assignment : problem.op.map->assignments)
        values.push_back(printer.expression(assignment.value));
    return fmt::format(
        "// What an element gets, from the results of its segment.\n"
        "__device__ __forceinline__ Mapped map_element({})\n{{\n{}    return {{{}}};\n}}\n",
        fmt::join(parameters, ", "), body, fmt::join(values, ", "));
}

}  // namespace

std::set<std::string> names_of_map(const Block& map)
{
    std::set<std::string> names;
    for (const auto& assignment : map.assignments)
        add_names_of(assignment.value, names);
    for (auto let = map.lets.rbegin(); let != map.lets.rend(); ++let)
        if (names.contains(let->name))
            add_names_of(let->value, names);
    return names;
}

std::vector<Piece> map_section(const Problem& problem)
{
    const auto& op = problem.op;
    if (!op.map)
        return {};
    const auto needed = names_of_map(*op.map);
    Holes holes{{}, {{"column", {}}, {"result", {}}, {"output", {}}}};
    for (const auto* name :
         {"inputs", "index", "count", "items", "k", "total", "position", "segment", "length"})
        holes.values[name] = "";
    auto loads = holes;
    std::vector<std::string> parameters, arguments;
    for (const auto& column : op.parameters) {
        if (column.table || !needed.contains(column.name))
            continue;
        auto array = holes_of_array(column.name, column.type, "MapChunk_");
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
    for (const auto& output : op.outputs)
        holes.lists["output"].push_back(holes_of_array(output.name, output.type, "OutputChunk_"));
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));

    std::vector<Piece> pieces = {
        {"kMapItems", fmt::format("constexpr int kMapItems = {};\n", kMapItems), Piece::Kind::constant}};
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    for (const auto* name : {"Finished", "finished", "Mapped"})
        add(name, vocabulary("map.cuh", name, holes));
    for (const auto* name : {"MapItems", "load_map_items"})
        add(name, vocabulary("map.cuh", name, loads));
    add("map_element", map_element(problem, parameters, needed));
    for (const auto* name : {"map_item", "MapOutputs", "keep_output", "store_outputs"})
        add(name, vocabulary("map.cuh", name, holes));
    return pieces;
}

}  // namespace segfold
