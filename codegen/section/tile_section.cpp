#include "codegen/section/tile_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/print/cuda_names.h"
#include "codegen/print/cuda_printer.h"
#include "codegen/print/opaque.h"
#include "codegen/section/append_functions.h"
#include "codegen/section/map_section.h"
#include "codegen/section/scan_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/rewrite/byte_sum.h"

namespace segfold {
namespace {

constexpr int kVectorBytes = 16;  ///< bytes of the widest memory access

/// The memory accesses that read a step's items of one column: `chunks` accesses of `items` elements each.
struct Chunks {
    Chunks(Type type, const StepItems& step)
        : bytes(size_bytes(type)),
          items(std::min(step.items, kVectorBytes / bytes)),
          chunks(step.items / items),
          in_words(step.items > kFewestStepItems && (bytes == 1 || (bytes == 2 && step.are_mapped)))
    {}
    int bytes;
    int items;
    int chunks;
    /// True if items are held as 32-bit words. One shift then extracts a byte; from an array of bytes this
    /// takes three instructions. 16-bit elements that are kept for a map are also held as words, so that the
    /// loads of all vectors are issued before any element is extracted.
    bool in_words;
};

/// Returns the statement that reads element `k` of a step into `items`. All of `items` must be zero before
/// the first such statement.
std::string put_of(const std::string& name, Type type, const Chunks& chunks)
{
    if (chunks.in_words && chunks.bytes == 2)
        return fmt::format("items.{0}[0].words[k / 2] |= unsigned({1}inputs.{0}[index + k]{2}) << k % 2 * 16",
                           name, is_half(type) ? "" : "(unsigned short)", is_half(type) ? ".bits" : "");
    return chunks.in_words
               ? fmt::format("items.{0}[0].words[k / 4] |= (unsigned char)inputs.{0}[index + k] << k % 4 * 8",
                             name)
               : fmt::format("items.{0}[k / {1}].at[k % {1}] = inputs.{0}[index + k]", name, chunks.items);
}

/// Returns the values for the holes of one column in kernels/vocabulary/tile.cuh. The list `chunk` has an
/// item for each memory access that reads a step of the column.
Holes holes_of(const Parameter& column, const StepItems& step)
{
    const Chunks chunks(column.type, step);
    Holes holes{{{"name", cuda_identifier(column.name)},
                 {"type", cuda_name(column.type)},
                 {"bytes", std::to_string(chunks.bytes)},
                 {"step_bytes", std::to_string(step.items * chunks.bytes)},
                 {"chunk", "Chunk_" + column.name},
                 {"chunk_items", std::to_string(chunks.items)},
                 {"chunk_type", chunks.in_words ? "unsigned" : cuda_name(column.type)},
                 {"chunk_at", chunks.in_words ? fmt::format("words[{}]", chunks.items * chunks.bytes / 4)
                                              : fmt::format("at[{}]", chunks.items)},
                 {"chunk_bytes", std::to_string(chunks.bytes * chunks.items)},
                 {"put", put_of(cuda_identifier(column.name), column.type, chunks)},
                 {"num_chunks", std::to_string(chunks.chunks)}}};
    for (int i = 0; i < chunks.chunks; ++i) {
        const auto plus = [&](int size) { return i == 0 ? "" : fmt::format(" + {}", i * size); };
        holes.lists["chunk"].push_back({{{"i", std::to_string(i)},
                                         {"plus_items", plus(chunks.items)},
                                         {"plus_bytes", plus(chunks.items * chunks.bytes)}}});
    }
    return holes;
}

/// Returns the expression for element `k` of a column of one or two bytes whose step is held as 32-bit words.
std::string item_of_words(Type type, const std::string& items)
{
    if (size_bytes(type) == 2) {
        const auto shifted = items + "[0].words[k / 2] >> k % 2 * 16";
        return cuda_name(type) +
               (is_half(type) ? "{(unsigned short)(" + shifted + ")}" : "(" + shifted + ")");
    }
    const auto shifted = items + "[0].words[k / 4] >> k % 4 * 8";
    return type == Type::boolean ? fmt::format("({} & 255) != 0", shifted)
                                 : fmt::format("{}({})", cuda_name(type), shifted);
}

/// Emits the vocabulary's function `piece`, which lifts an element or appends it to a run. `is_used` tells
/// whether the function takes a parameter or place. `element(column, name)` returns the expression for an
/// element of a column, where `name` is the column's name in CUDA.
template <class IsUsed, class Element>
std::string item_function(const char* piece, const Operator& op, const IsUsed& is_used,
                          const Element& element)
{
    std::vector<std::string> arguments;
    bool uses_inputs = false;
    for (const auto& parameter : op.parameters) {
        if (!is_used(parameter))
            continue;
        const auto identifier = cuda_identifier(parameter.name);
        uses_inputs = uses_inputs || parameter.table;
        arguments.push_back(parameter.table ? "inputs." + identifier : element(parameter, identifier));
    }
    const bool uses_index = is_used("index");
    if (uses_index)
        arguments.emplace_back("index");
    return vocabulary("tile.cuh", piece,
                      {{{"inputs", uses_inputs ? " inputs" : ""},
                        {"index", uses_index ? " index" : ""},
                        {"arguments", fmt::format("{}", fmt::join(arguments, ", "))}}});
}

/// True for a parameter or a place (such as index) that lift takes.
struct LiftUses {
    const Operator& op;
    bool operator()(const Parameter& parameter) const { return lift_uses(op, parameter); }
    bool operator()(const char* place) const { return uses_name(op.lift, place); }
};

/// True for a parameter or a place (such as index) that append takes.
struct AppendUses {
    const Operator& op;
    bool operator()(const Parameter& parameter) const { return append_uses(op, parameter); }
    bool operator()(const char* place) const { return append_uses(op, place); }
};

/// Returns the expression that reads item `k` of a step's `items`.
struct ItemOfStep {
    StepItems step;
    std::string operator()(const Parameter& column, const std::string& name) const
    {
        const Chunks chunks(column.type, step);
        if (!chunks.in_words && chunks.chunks == 1)
            return fmt::format("items.{}[0].at[k]", name);
        return item_of_step(column, step, "items." + name);
    }
};

/// Returns the expression that reads the item with number `item` in a warp's tile.
std::string item_of_tile(const Parameter& column, const std::string& name)
{
    return fmt::format(
        "*(const {0}*)((const char*)tile.{1} + tile_place(item / kItemsPerThread, "
        "item % kItemsPerThread * {2}, kItemsPerThread * {2}))",
        cuda_name(column.type), name, size_bytes(column.type));
}

}  // namespace

std::string item_of_step(const Parameter& column, const StepItems& step, const std::string& items)
{
    const Chunks chunks(column.type, step);
    return chunks.in_words ? item_of_words(column.type, items)
                           : fmt::format("{0}[k / {1}].at[k % {1}]", items, chunks.items);
}

std::vector<const Parameter*> lifted_columns(const Operator& op)
{
    std::vector<const Parameter*> columns;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && lift_uses(op, parameter))
            columns.push_back(&parameter);
    return columns;
}

const Parameter* kept_column(const Operator& op)
{
    const auto columns = lifted_columns(op);
    if (op.state.size() != 1 || !op.has_identity() || !op.lift.lets.empty() || columns.size() != 1)
        return nullptr;
    const auto& lifted = op.lift.assignments[0].value;
    const bool is_kept = lifted->kind == ExpressionKind::name && lifted->name == columns[0]->name &&
                         columns[0]->type == op.state[0].type;
    return is_kept ? columns[0] : nullptr;
}

bool copies_items(const Problem& problem)
{
    const auto* kept = kept_column(problem.op);
    const auto bytes = kept ? size_bytes(kept->type) : 0;
    return (bytes == 4 || bytes == 8) && problem.target.has_async_copies;
}

std::vector<Piece> tile_section(const Problem& problem, const StepItems& step)
{
    Holes holes{{{"inputs", ""}, {"conditions", "true"}}, {{"column", {}}}};
    std::vector<std::string> conditions;
    for (const auto* column : lifted_columns(problem.op)) {
        auto& list = holes.lists["column"];
        list.push_back(holes_of(*column, step));
        conditions.push_back(vocabulary("tile.cuh", "condition", list.back()));
        conditions.back().pop_back();  // removes the newline
    }
    if (!conditions.empty())
        holes.values = {{"inputs", " inputs"},
                        {"conditions", fmt::format("{}", fmt::join(conditions, " && "))}};
    std::vector<Piece> pieces = {
        {"kStepItems", fmt::format("constexpr int kStepItems = {};\n", step.items), Piece::Kind::constant}};
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
    };
    for (const auto* name : {"Tile", "copy_tile", "Items", "take_items", "take_row_items", "load_items",
                             "is_aligned", "load_vectors", "SharedVectors", "copy_vectors", "shared_vectors"})
        add(name, vocabulary("tile.cuh", name, holes));
    const LiftUses lift_uses{problem.op};
    add("lift_item", item_function("lift_item", problem.op, lift_uses, ItemOfStep{step}));
    add("lift_at", item_function("lift_at", problem.op, lift_uses, item_of_tile));
    if (const auto* kept = kept_column(problem.op))
        add("element_address",
            vocabulary("tile.cuh", "element_address", {{{"name", cuda_identifier(kept->name)}}}));
    const auto* column = summed_bytes(problem.op);
    if (column && Chunks(column->type, step).in_words) {
        const Holes byte_holes{{{"name", cuda_identifier(column->name)},
                                {"type", column->type == Type::i8 ? "int" : "unsigned"}}};
        add("append_item", vocabulary("tile.cuh", "append_byte_item", byte_holes));
        add("add_bytes", vocabulary("tile.cuh", "add_bytes", byte_holes));
    } else if (has_append(problem.op)) {
        add("append_item",
            item_function("append_item", problem.op, AppendUses{problem.op}, ItemOfStep{step}));
    }
    for (auto& piece : map_tile_section(problem, step))
        pieces.push_back(std::move(piece));
    for (auto& piece : scan_tile_section(problem))
        pieces.push_back(std::move(piece));
    return pieces;
}

std::vector<Piece> columns_section(const Operator& op)
{
    std::string fields;
    std::vector<std::string> loaded;
    std::vector<std::string> arguments;
    bool reads_tables = false;
    for (const auto& parameter : op.parameters) {
        if (!lift_uses(op, parameter))
            continue;
        const auto name = cuda_identifier(parameter.name);
        arguments.push_back((parameter.table ? "inputs." : "columns.") + name);
        reads_tables |= parameter.table;
        if (parameter.table)
            continue;
        fields += fmt::format("    {} {};\n", cuda_name(parameter.type), name);
        loaded.push_back(fmt::format("inputs.{}[index]", name));
    }
    if (loaded.empty())
        return {};

    std::vector<Piece> pieces;
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, text, Piece::Kind::declaration});
    };
    const auto add_function = [&](const char* name, const std::string& head,
                                  const std::vector<std::string>& given, const char* returned) {
        add(name, fmt::format("__device__ __forceinline__ {}\n{{\n    return {};\n}}\n", head,
                              fmt::format(fmt::runtime(returned), fmt::join(given, ", "))));
    };
    add("Columns",
        "// An element's values of the columns that lift() reads.\nstruct Columns {\n" + fields + "};\n");
    add_function("load_columns", "Columns load_columns(const Inputs& inputs, Index index)", loaded, "{{{}}}");
    if (uses_name(op.lift, "index") || uses_name(op.lift, "position"))
        return pieces;
    const bool uses_segment = uses_name(op.lift, "segment");
    if (uses_segment)
        arguments.emplace_back("segment");
    add_function("lift_columns",
                 fmt::format("State lift_columns(const Inputs&{}, const Columns& columns, Index{})",
                             reads_tables ? " inputs" : "", uses_segment ? " segment" : ""),
                 arguments, "lift({})");
    return pieces;
}

}  // namespace segfold
