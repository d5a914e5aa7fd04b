#include "codegen/tile_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "codegen/cuda_names.h"
#include "codegen/cuda_printer.h"
#include "codegen/line_break.h"

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

std::string chunk_name(const Parameter& column) { return "Chunk_" + column.name; }

std::string tile(const std::vector<const Parameter*>& columns)
{
    std::string text =
        "// The elements of a warp's tile, a row of kItemsPerThread for each lane; see tile_place().\n"
        "struct Tile {\n";
    for (const auto* column : columns)
        text += fmt::format("    alignas(16) {} {}[kItemsPerThread * kWarpThreads];\n",
                            cuda_name(column->type), cuda_identifier(column->name));
    return text + "};\n";
}

std::string copy_tile(const std::vector<const Parameter*>& columns)
{
    std::string text =
        "// Starts to copy the tile of the elements from `begin` on; those at `end` and beyond become zero.\n"
        "__device__ __forceinline__ void copy_tile(Tile& tile, const Inputs& inputs, Index begin, Index "
        "end)\n{\n";
    for (const auto* column : columns)
        text += fmt::format(
            "    copy_column((char*)tile.{0}, (const char*)(inputs.{0} + begin), {1}, end - begin);\n",
            cuda_identifier(column->name), size_bytes(column->type));
    return text + "}\n";
}

std::string items(const std::vector<const Parameter*>& columns)
{
    std::string text;
    for (const auto* column : columns) {
        const Chunks chunks(column->type);
        text += fmt::format("struct alignas({}) {} {{\n    {} at[{}];\n}};\n\n", chunks.bytes * chunks.items,
                            chunk_name(*column), cuda_name(column->type), chunks.items);
    }
    text += "// Elements of kStepItems consecutive items.\nstruct Items {\n";
    for (const auto* column : columns)
        text += fmt::format("    {} {}[{}];\n", chunk_name(*column), cuda_identifier(column->name),
                            Chunks(column->type).chunks);
    return text + "};\n";
}

std::string take_items(const std::vector<const Parameter*>& columns)
{
    std::string text =
        "// The items from step * kStepItems on of this lane's row.\n"
        "__device__ __forceinline__ Items take_items(const Tile& tile, int step)\n{\n"
        "    const int lane = threadIdx.x % kWarpThreads;\n    Items items;\n";
    for (const auto* column : columns) {
        const Chunks chunks(column->type);
        const auto name = cuda_identifier(column->name);
        for (int i = 0; i < chunks.chunks; ++i)
            text += fmt::format(
                "    items.{0}[{1}] = *(const {2}*)((const char*)tile.{0} + tile_place(lane, step * "
                "{3}{4}, kItemsPerThread * {5}));\n",
                name, i, chunk_name(*column), kStepItems * chunks.bytes,
                i == 0 ? std::string() : fmt::format(" + {}", i * chunks.items * chunks.bytes), chunks.bytes);
    }
    return text + "    return items;\n}\n";
}

/// Statements that read a step's items of one column from global memory.
std::string read_chunks(const Parameter& column, std::string_view indent)
{
    const Chunks chunks(column.type);
    std::string text;
    for (int i = 0; i < chunks.chunks; ++i)
        text += fmt::format("{0}items.{1}[{2}] = *(const {3}*)(inputs.{1} + index{4});\n", indent,
                            cuda_identifier(column.name), i, chunk_name(column),
                            i == 0 ? std::string() : fmt::format(" + {}", i * chunks.items));
    return text;
}

std::string load_items(const std::vector<const Parameter*>& columns)
{
    std::string text =
        "// The items from the element at `index` on, of which `count` are there; the others become zero.\n"
        "__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)\n{\n"
        "    Items items = {};\n";
    for (const auto* column : columns) {
        const Chunks chunks(column->type);
        const auto name = cuda_identifier(column->name);
        text += fmt::format(
            "    if (count >= kStepItems && (unsigned long long)(inputs.{0} + index) % alignof({1}) == 0) "
            "{{\n",
            name, chunk_name(*column));
        text += read_chunks(*column, "        ");
        text += fmt::format(
            "    }} else {{\n"
            "        #pragma unroll\n"
            "        for (int k = 0; k < kStepItems; ++k)\n"
            "            if (k < count)\n"
            "                items.{0}[k / {1}].at[k % {1}] = inputs.{0}[index + k];\n"
            "    }}\n",
            name, chunks.items);
    }
    return text + "    return items;\n}\n";
}

std::string is_aligned(const std::vector<const Parameter*>& columns)
{
    std::vector<std::string> conditions;
    for (const auto* column : columns)
        conditions.push_back(fmt::format("(unsigned long long)inputs.{} % alignof({}) == 0",
                                         cuda_identifier(column->name), chunk_name(*column)));
    return fmt::format(
        "// Whether load_vectors() may be called.\n"
        "__device__ __forceinline__ bool is_aligned(const Inputs&{})\n{{\n    return {};\n}}\n",
        columns.empty() ? "" : " inputs",
        columns.empty() ? std::string("true") : fmt::format("{}", fmt::join(conditions, " && ")));
}

std::string load_vectors(const std::vector<const Parameter*>& columns)
{
    std::string text =
        "// The items from the element at `index` on, a multiple of kStepItems, all of which are there.\n"
        "__device__ __forceinline__ Items load_vectors(const Inputs& inputs, Index index)\n{\n"
        "    Items items;\n";
    for (const auto* column : columns)
        text += read_chunks(*column, "    ");
    return text + "    return items;\n}\n";
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
    return fmt::format(
        "// Item k of a step, which is the element at `index` of the input, lifted.\n"
        "__device__ __forceinline__ State lift_item(const Inputs&{}, const Items& items, int k, "
        "Index{})\n{{\n    return lift({});\n}}\n",
        uses_inputs ? " inputs" : "", uses_index ? " index" : "", fmt::join(arguments, ", "));
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
    const auto columns = lifted_columns(problem.op);
    std::vector<Piece> pieces = {
        {"kStepItems", fmt::format("constexpr int kStepItems = {};\n", kStepItems), Piece::Kind::constant}};
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    add("Tile", tile(columns));
    add("copy_tile", copy_tile(columns));
    add("Items", items(columns));
    add("take_items", take_items(columns));
    add("load_items", load_items(columns));
    add("is_aligned", is_aligned(columns));
    add("load_vectors", load_vectors(columns));
    add("lift_item", lift_item(problem.op));
    return pieces;
}

}  // namespace segfold
