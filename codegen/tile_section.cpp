#include "codegen/tile_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "codegen/cuda_names.h"
#include "codegen/cuda_printer.h"
#include "codegen/line_break.h"
#include "codegen/vocabulary.h"

namespace segfold {
namespace {

constexpr int kStepItems = 4;     ///< items that a lane takes from its row at a time
constexpr int kVectorBytes = 16;  ///< the widest access

/// How a step's items of one column are read: in `chunks` accesses of `items` elements each.
struct Chunks {
    explicit Chunks(Type type)
        : bytes(size_bytes(type)),
          items(std::min(kStepItems, kVectorBytes / bytes)),
          chunks(kStepItems / items)
    {}
    int bytes;
    int items;
    int chunks;
};

/// What the texts of kernels/vocabulary/tile.cuh ask of a column, and of each access that reads a step of it.
Holes holes_of(const Parameter& column)
{
    const Chunks chunks(column.type);
    Holes holes{{{"name", cuda_identifier(column.name)},
                 {"type", cuda_name(column.type)},
                 {"bytes", std::to_string(chunks.bytes)},
                 {"step_bytes", std::to_string(kStepItems * chunks.bytes)},
                 {"chunk", "Chunk_" + column.name},
                 {"chunk_items", std::to_string(chunks.items)},
                 {"chunk_bytes", std::to_string(chunks.bytes * chunks.items)},
                 {"num_chunks", std::to_string(chunks.chunks)}}};
    for (int i = 0; i < chunks.chunks; ++i) {
        const auto plus = [&](int size) { return i == 0 ? "" : fmt::format(" + {}", i * size); };
        holes.lists["chunk"].push_back({{{"i", std::to_string(i)},
                                         {"plus_items", plus(chunks.items)},
                                         {"plus_bytes", plus(chunks.items * chunks.bytes)}}});
    }
    return holes;
}

std::string lift_item(const Operator& op)
{
    std::vector<std::string> arguments;
    bool uses_inputs = false;
    for (const auto& parameter : op.parameters) {
        if (!lift_uses(op, parameter))
            continue;
        const auto name = cuda_identifier(parameter.name);
        uses_inputs = uses_inputs || parameter.table;
        const Chunks chunks(parameter.type);
        if (parameter.table)
            arguments.push_back("inputs." + name);
        else if (chunks.chunks == 1)
            arguments.push_back(fmt::format("items.{}[0].at[k]", name));
        else
            arguments.push_back(fmt::format("items.{0}[k / {1}].at[k % {1}]", name, chunks.items));
    }
    const bool uses_index = uses_name(op.lift, "index");
    if (uses_index)
        arguments.emplace_back("index");
    return vocabulary("tile.cuh", "lift_item",
                      {{{"inputs", uses_inputs ? " inputs" : ""},
                        {"index", uses_index ? " index" : ""},
                        {"arguments", fmt::format("{}", fmt::join(arguments, ", "))}}});
}

}  // namespace

std::vector<const Parameter*> lifted_columns(const Operator& op)
{
    std::vector<const Parameter*> columns;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && lift_uses(op, parameter))
            columns.push_back(&parameter);
    return columns;
}

std::vector<Piece> tile_section(const Problem& problem)
{
    Holes holes{{{"inputs", ""}, {"conditions", "true"}}, {{"column", {}}}};
    std::vector<std::string> conditions;
    for (const auto* column : lifted_columns(problem.op)) {
        auto& list = holes.lists["column"];
        list.push_back(holes_of(*column));
        conditions.push_back(vocabulary("tile.cuh", "condition", list.back()));
        conditions.back().pop_back();  // the end of the line
    }
    if (!conditions.empty())
        holes.values = {{"inputs", " inputs"},
                        {"conditions", fmt::format("{}", fmt::join(conditions, " && "))}};
    std::vector<Piece> pieces = {
        {"kStepItems", fmt::format("constexpr int kStepItems = {};\n", kStepItems), Piece::Kind::constant}};
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    for (const auto* name :
         {"Tile", "copy_tile", "Items", "take_items", "load_items", "is_aligned", "load_vectors"})
        add(name, vocabulary("tile.cuh", name, holes));
    add("lift_item", lift_item(problem.op));
    return pieces;
}

}  // namespace segfold
