#include "codegen/section/native_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/print/cuda_names.h"
#include "codegen/print/opaque.h"
#include "codegen/section/helper_functions.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"

namespace segfold {
namespace {

Piece declaration_of(std::string_view file, const std::string& piece, std::string name, const Holes& holes,
                     std::string second_name)
{
    return {std::move(name), break_lines(vocabulary(file, piece, holes)), Piece::Kind::declaration,
            std::move(second_name)};
}

/// Returns a piece of kernels/vocabulary/native.h, which works on single values.
Piece declaration(const std::string& piece, std::string name, const Holes& holes = {},
                  std::string second_name = {})
{
    return declaration_of("native.h", piece, std::move(name), holes, std::move(second_name));
}

/// Returns a piece of kernels/vocabulary/lanes.h, which works on the states or items of all lanes.
Piece of_lanes(const std::string& piece, std::string name, const Holes& holes = {},
               std::string second_name = {})
{
    return declaration_of("lanes.h", piece, std::move(name), holes, std::move(second_name));
}

bool is_short(Type type) { return size_bytes(type) < 4; }

/// Returns the type in which an array over all lanes holds a value. It has at least 32 bits, like the
/// elements of vector registers.
std::string lane_type(Type type) { return is_short(type) ? "unsigned" : cuda_name(type); }

/// Returns the expression that converts a value to its lane_type().
std::string widened(Type type, const std::string& value)
{
    return !is_short(type) ? value : is_half(type) ? value + ".bits" : "unsigned(" + value + ")";
}

/// Returns the expression that converts a result of widened() back to the value.
std::string narrowed(Type type, const std::string& word)
{
    return !is_short(type) ? word
           : is_half(type) ? cuda_name(type) + "{(unsigned short)" + word + "}"
                           : cuda_name(type) + "(" + word + ")";
}

/// A member of an operator's State: a field, or the flag that tells whether the state has any element.
struct Member {
    std::string name;
    Type type;
};

Holes states(const Operator& op, const std::string& present)
{
    std::vector<Member> members;
    for (const auto& field : op.state)
        members.push_back({cuda_identifier(field.name), field.type});
    const bool is_scalar = members.size() == 1 && op.has_identity();
    if (!op.has_identity())
        members.push_back({present, Type::boolean});
    Holes holes{{}, {{"field", {}}}};
    std::vector<std::string> values, totals;
    for (const auto& [name, type] : members) {
        values.push_back(narrowed(type, "states." + name + "[lane]"));
        totals.push_back(narrowed(type, "totals." + name + "[place]"));
        const bool is_pair = size_bytes(type) == 8;
        Holes field{{{"name", name},
                     {"lane_type", lane_type(type)},
                     {"widened", widened(type, is_scalar ? "state" : "state." + name)},
                     {"part", is_pair ? "part_pairs" : "part_words"}},
                    {{"word", {}}, {"pair", {}}}};
        field.lists[is_pair ? "pair" : "word"].push_back({});
        holes.lists["field"].push_back(std::move(field));
    }
    holes.values["value"] = is_scalar ? values[0] : fmt::format("{{{}}}", fmt::join(values, ", "));
    holes.values["total"] = is_scalar ? totals[0] : fmt::format("{{{}}}", fmt::join(totals, ", "));
    return holes;
}

Holes columns(const Operator& op)
{
    Holes holes{{}, {{"column", {}}}};
    for (const auto& parameter : op.parameters) {
        if (parameter.table || !lift_uses(op, parameter))
            continue;
        const auto name = cuda_identifier(parameter.name);
        const int bytes = static_cast<int>(size_bytes(parameter.type));
        const auto element = fmt::format("inputs.{}[first + lane * lane_items + k]", name);
        const auto row_element = fmt::format("inputs.{}[first + lane]", name);
        Holes column{{{"name", name},
                      {"lane_type", lane_type(parameter.type)},
                      {"bytes", std::to_string(bytes)},
                      {"widened", widened(parameter.type, element)},
                      {"row_word", widened(parameter.type, row_element)}},
                     {{"words", {}}, {"pairs", {}}, {"narrow", {}}, {"whole", {}}}};
        if (bytes >= 4)
            column.lists["whole"].push_back({});
        column.lists[bytes == 4 ? "words" : bytes == 8 ? "pairs" : "narrow"].push_back({});
        holes.lists["column"].push_back(std::move(column));
    }
    return holes;
}

Holes results(const Operator& op)
{
    Holes holes{{}, {{"result", {}}}};
    for (const auto& field : op.results)
        holes.lists["result"].push_back({{{"name", cuda_identifier(field.name)}}, {}});
    return holes;
}

Holes lift_arguments(const Operator& op)
{
    std::vector<std::string> arguments;
    bool uses_items = false;
    bool uses_inputs = false;
    for (const auto& parameter : op.parameters) {
        if (!lift_uses(op, parameter))
            continue;
        const auto name = cuda_identifier(parameter.name);
        uses_inputs = uses_inputs || parameter.table;
        uses_items = uses_items || !parameter.table;
        arguments.push_back(parameter.table ? "inputs." + name
                                            : narrowed(parameter.type, "items." + name + "[k][lane]"));
    }
    Holes holes;
    const auto named = [&](const std::string& name, bool is_used) {
        holes.values[name] = is_used ? " " + name : "";
    };
    named("inputs", uses_inputs);
    for (const char* name : {"items", "k", "lane"})
        named(name, uses_items);
    for (const std::string place : {"index", "position", "segment"}) {
        const bool is_used = uses_name(op.lift, place);
        named(place, is_used);
        if (is_used)
            arguments.push_back(place);
    }
    holes.values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
    return holes;
}

}  // namespace

std::vector<NamedConstant> native_constants()
{
    constexpr int kLanes = 16;
    return {{"kLanes", kLanes},
            {"kColumns", kLanes},
            {"kPrefetchBytes", 8192},
            {"kFarBytes", 16384},
            {"kNearBytes", 128}};
}

std::vector<Piece> native_helper_pieces(const Target& target)
{
    std::vector<Piece> pieces = helper_pieces(Dialect::native);
    pieces.push_back(
        declaration(target.has_f16_conversions ? "f16 of the machine" : "f16", "f16", {}, "to_f16"));
    pieces.push_back(declaration("bf16", "bf16", {}, "to_bf16"));
    for (const Type type : {Type::f32, Type::f64})
        for (const char* extreme : {"least", "greatest"})
            pieces.push_back(declaration(extreme, fmt::format("{}_{}", extreme, name(type)),
                                         {{{"type", cuda_name(type)},
                                           {"name", std::string(name(type))},
                                           {"bits", type == Type::f32 ? "unsigned" : "u64"}}}));
    for (const Type type : {Type::i32, Type::u32, Type::i64, Type::u64})
        for (const char* extreme : {"least", "greatest"})
            pieces.push_back(declaration(std::string("integer_") + extreme,
                                         fmt::format("{}_{}", extreme, name(type)),
                                         {{{"type", cuda_name(type)}, {"name", std::string(name(type))}}}));
    for (const char* piece : {"leading_zeros_u32", "leading_zeros_u64", "rsqrt_f32", "rsqrt_f64"})
        pieces.push_back(declaration(piece, piece));
    return pieces;
}

Piece native_table_piece(const std::string& table_name, Type type, const std::string& zero)
{
    return declaration("Table", table_name,
                       {{{"table", table_name}, {"type", cuda_name(type)}, {"zero", zero}}});
}

std::vector<Piece> native_lane_pieces(const Operator& op, const std::string& present)
{
    const auto fields = states(op, present);
    const bool is_scalar = op.state.size() == 1 && op.has_identity();
    std::vector<Piece> pieces;
    pieces.push_back(of_lanes("States", "States", fields));
    pieces.push_back(of_lanes("get", "get", fields));
    pieces.push_back(of_lanes("put", "put", fields));
    pieces.push_back(of_lanes("clear", "clear"));
    pieces.push_back(of_lanes("append", "append"));
    pieces.push_back(of_lanes(is_scalar ? "choose_scalar" : "choose", "choose", fields));
    for (const char* piece : {"Words", "transpose_words", "transpose_pairs", "part_words", "part_pairs"})
        pieces.push_back(of_lanes(piece, piece));
    pieces.push_back(of_lanes("kMaskWords", "kMaskWords", {}, "keep_words"));
    for (const char* piece :
         {"part_lanes", "clip", "Totals", "get_total", "put_total", "keep_totals", "take_totals"})
        pieces.push_back(of_lanes(piece, piece, fields));
    pieces.push_back(of_lanes("prefetch", "prefetch"));
    pieces.push_back(of_lanes("prefetch_results", "prefetch_results", results(op)));
    const auto all_columns = columns(op);
    pieces.push_back(of_lanes("Items", "Items", all_columns));
    pieces.push_back(of_lanes("take_items", "take_items", all_columns));
    pieces.push_back(of_lanes("take_row", "take_row", all_columns));
    pieces.push_back(of_lanes("lift_item", "lift_item", lift_arguments(op)));
    return pieces;
}

}  // namespace segfold
