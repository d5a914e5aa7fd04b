#include "codegen/section/native_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/print/cuda_names.h"
#include "codegen/section/map_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

/// The parameters of map_element(), and the arguments that pass columns of numbers or of rows.
struct MapArguments {
    std::vector<std::string> parameters, given;
};

MapArguments map_arguments(const Operator& op, Holes& holes)
{
    const auto needed = names_of_map(*op.map);
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
    for (const auto& result : op.results) {
        if (!needed.contains(result.name))
            continue;
        const auto name = cuda_identifier(result.name);
        add(result.name, result.type, is_rows ? "results." + name + "[total]" : "total." + name);
        holes.lists["result"].push_back({{{"name", name}, {"type", cuda_name(result.type)}}});
        for (const auto* used : {"total", "results"})
            holes.values[used] = std::string(" ") + used;
    }
    for (const std::string place : {"index", "position", "segment", "length"}) {
        if (!needed.contains(place))
            continue;
        arguments.parameters.push_back("Index " + place);
        arguments.given.push_back(place);
        holes.values[place] = " " + place;
    }
    return arguments;
}

}  // namespace

std::vector<Piece> native_map_section(const Problem& problem)
{
    if (!problem.op.map)
        return {};
    Holes holes{{}, {{"result", {}}, {"output", {}}}};
    for (const auto* name : {"inputs", "results", "total", "position", "segment", "length"})
        holes.values[name] = "";
    const auto [parameters, given] = map_arguments(problem.op, holes);
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
    for (const auto* name : {"map_item", "map_feature"})
        add(name, vocabulary("map.h", name, holes));
    return pieces;
}

}  // namespace segfold
