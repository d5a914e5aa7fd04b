#include "runtime/scale/slices/slice_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "dsl/check/check.h"
#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/laws/laws.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

/// A function that returns the expression that replaces a node, or nothing if the node stays.
using Replace = std::function<std::optional<Expression>(const ExpressionNode& node)>;

Expression with_others(const Expression& expression, const Replace& replace)
{
    if (auto other = replace(*expression))
        return *other;
    if (expression->arguments.empty())
        return expression;
    std::vector<Expression> arguments;
    for (const auto& argument : expression->arguments)
        arguments.push_back(with_others(argument, replace));
    return with_type(expression, std::move(arguments), *expression->type);
}

void replace_nodes(Block& block, const Replace& replace)
{
    for (auto& let : block.lets)
        let.value = with_others(let.value, replace);
    for (auto& assignment : block.assignments)
        assignment.value = with_others(assignment.value, replace);
}

/// Returns a function that replaces the names in the map.
Replace by_name(const std::map<std::string, Expression>& others)
{
    return [&others](const ExpressionNode& node) -> std::optional<Expression> {
        const auto found = node.kind == ExpressionKind::name ? others.find(node.name) : others.end();
        return found == others.end() ? std::nullopt : std::optional(found->second);
    };
}

/// Adds a table to a part's operator and returns the table's name.
std::string add_table(PartOperator& part, const std::string& wish, Type type, BaseTable base)
{
    auto name = unused_name(part.op, wish);
    part.op.parameters.push_back({name, type, true, {}});
    part.bases.push_back(base);
    return name;
}

/// If lift, scan or map uses `name`, adds a table to `part`, and adds `place(table)` to `places` as
/// replacement for the name.
void add_base(PartOperator& part, std::map<std::string, Expression>& places, const char* name, BaseTable base,
              const std::function<Expression(const std::string& table)>& place)
{
    if (!uses_name(part.op.lift, name) && !(part.op.scan && uses_name(part.op.scan->block, name)) &&
        !(part.op.map && uses_name(*part.op.map, name)))
        return;
    places.emplace(name, place(add_table(part, std::string("slice_") + name, Type::i64, base)));
}

void replace_places(PartOperator& part, const std::map<std::string, Expression>& places)
{
    part.op.append.reset();  // append cannot read the added tables
    replace_nodes(part.op.lift, by_name(places));
    if (part.op.scan)
        replace_nodes(part.op.scan->block, by_name(places));
    if (part.op.map)
        replace_nodes(*part.op.map, by_name(places));
}

/// Returns a function that makes the expression `name + table[0]`.
std::function<Expression(const std::string&)> behind_base(const std::string& name)
{
    return [name](const std::string& table) { return make_name(name) + make_gather(table, Expression(0)); };
}

/// Adds the segment's number to the state, because finish reads no table.
void carry_segment(PartOperator& part)
{
    auto& op = part.op;
    op.append.reset();
    const auto field = unused_name(op, "slice_place");
    const bool is_monoid = op.has_identity();
    op.state.push_back(
        {field, Type::i64, is_monoid ? std::optional(lowest(Type::i64)) : std::nullopt, Position{}});
    op.lift.assignments.push_back({field, make_name("segment"), {}});
    op.combine.assignments.push_back(
        {field, call("max", {make_field(Operand::earlier, field), make_field(Operand::later, field)}), {}});
    replace_nodes(*op.finish, by_name({{"segment", make_field(Operand::state, field)}}));
}

/// If the operator keeps no results, removes the parts that only results need.
Operator without_unread_results(Operator op)
{
    if (op.keeps_results)
        return op;
    op.finish.reset();
    op.empty.reset();
    op.results.clear();
    for (const auto& field : op.state)
        op.results.push_back({field.name, field.type, {}});
    return check(std::move(op));
}

bool reads_state(const Block& block, Operand operand)
{
    const std::function<bool(const Expression&)> reads = [&](const Expression& expression) {
        return (expression->kind == ExpressionKind::field && expression->operand == operand) ||
               std::ranges::any_of(expression->arguments, reads);
    };
    return std::ranges::any_of(block.lets, [&](const Let& let) { return reads(let.value); }) ||
           std::ranges::any_of(block.assignments, [&](const Assignment& set) { return reads(set.value); });
}

/// Changes the part's `scan` to read states that include the elements scanned before the piece. Added tables
/// hold the state of these elements.
///
/// The fold's own states cover only the piece, so that its total can be joined like any other total.
void carry_state(PartOperator& part)
{
    auto& op = part.op;
    auto& block = op.scan->block;
    const auto entry = [&](const std::string& wish, Type type, BaseTable base) {
        return make_gather(add_table(part, wish, type, base), make_name("segment"));
    };
    const auto is_carried = make_binary("!=", entry("carried", Type::i64, BaseTable::carried), Expression(0));
    const auto is_first =
        make_binary("==", make_name("position"), entry("carried_first", Type::i64, BaseTable::first));
    std::map<std::string, Expression> carry;
    for (const auto& field : std::vector(op.state))
        carry.emplace(field.name, entry(fmt::format("carry{}", carry.size()), field.type, BaseTable::carry));

    std::map<std::pair<Operand, std::string>, Expression> states;
    std::size_t num_lets = 0;  // number of lets added so far; they precede the author's lets, which read them
    const auto add_let = [&](const char* wish, const Expression& value) {
        const auto name = unused_name(op, fmt::format("{}{}", wish, num_lets));
        block.lets.insert(block.lets.begin() + static_cast<std::ptrdiff_t>(num_lets++), {name, value, {}});
        return make_name(name);
    };
    const auto own = block;
    for (const auto operand : {Operand::earlier, Operand::later}) {
        if (!reads_state(own, operand))
            continue;
        std::map<std::string, Expression> locals;
        const Replace of_both = [&](const ExpressionNode& node) -> std::optional<Expression> {
            if (node.kind == ExpressionKind::field)
                return (node.operand == Operand::earlier) == op.scan->reverse ? make_field(operand, node.name)
                                                                              : carry.at(node.name);
            return by_name(locals)(node);
        };
        for (const auto& let : op.combine.lets) {
            const auto value = add_let("joined", with_others(let.value, of_both));
            locals.insert_or_assign(let.name, value);
        }
        for (const auto& set : op.combine.assignments) {
            const auto of_piece = make_field(operand, set.field);
            auto joined = with_others(set.value, of_both);
            if (operand == Operand::earlier)  // the identity may not be neutral for infinities and NaN
                joined = make_conditional(is_first, carry.at(set.field), joined);
            states.emplace(std::pair(operand, set.field),
                           add_let("behind", make_conditional(is_carried, joined, of_piece)));
        }
    }
    const Replace by_carried = [&](const ExpressionNode& node) -> std::optional<Expression> {
        if (node.kind != ExpressionKind::field)
            return std::nullopt;
        return states.at({node.operand, node.name});
    };
    for (auto let = block.lets.begin() + static_cast<std::ptrdiff_t>(num_lets); let != block.lets.end();
         ++let)
        let->value = with_others(let->value, by_carried);
    for (auto& set : block.assignments)
        set.value = with_others(set.value, by_carried);
}

/// Makes the part's `map` read the results of `op`, and the lengths of segments, from tables.
void read_results(PartOperator& part, const Operator& op)
{
    std::map<std::string, Expression> values;
    for (const auto& field : op.results)
        values.emplace(field.name,
                       make_gather(add_table(part, "result_" + field.name, field.type, BaseTable::result),
                                   make_name("segment")));
    if (uses_name(*part.op.map, "length"))
        values.emplace("length", make_gather(add_table(part, "segment_length", Type::i64, BaseTable::length),
                                             make_name("segment")));
    replace_nodes(*part.op.map, by_name(values));
}

/// Adds tables that tell where pieces lie in the input, and makes the operator read them.
void add_piece_places(PartOperator& part)
{
    std::map<std::string, Expression> places;
    add_base(part, places, "index", BaseTable::index, behind_base("index"));
    add_base(part, places, "segment", BaseTable::segment,
             [](const std::string& table) { return make_gather(table, make_name("segment")); });
    add_base(part, places, "position", BaseTable::position, [](const std::string& table) {
        return make_name("position") + make_gather(table, make_name("segment"));
    });
    if (!places.empty())
        replace_places(part, places);
}

}  // namespace

std::string reason_against_slices(const Operator& op)
{
    if (has_rows(op))
        return fmt::format("operator {} folds rows of features, which are not cut into slices", op.name);
    if (op.map)
        return fmt::format(
            "operator {} maps elements with their segment's results, which a segment that is cut has only "
            "when all its elements have been passed",
            op.name);
    return {};
}

std::string reason_against_streams(const Operator& op, LayoutKind kind)
{
    if (op.scan && op.scan->reverse && op.keeps_results)
        return fmt::format(
            "operator {} scans segments from their end and has results of segments, and a stream that is "
            "read from its end gives running results alone",
            op.name);
    if (has_rows(op) || !op.map)
        return reason_against_slices(op);
    return kind == LayoutKind::groups ? ""
                                      : reason_against_slices(op) + "; groups in any order are read twice";
}

namespace {

void require_none(const std::string& reason)
{
    if (!reason.empty())
        throw InputError(reason +
                         "; fold it in one piece: without --slices, --devices, --memory and other ranks");
}

}  // namespace

void require_slices(const Operator& op) { require_none(reason_against_slices(op)); }

void require_streams(const Operator& op, LayoutKind kind) { require_none(reason_against_streams(op, kind)); }

void require_associative(const OperatorLaws& laws, const Operator& op, std::string_view what_divides)
{
    if (laws.usable.associative)
        return;
    const auto* finding = laws.report.find(Law::associative);
    throw InputError(fmt::format(
        "operator {} is not associative, so that segments which {} would have other results; fold it in one "
        "piece{}{}",
        op.name, what_divides, finding != nullptr ? "\n" : "",
        finding != nullptr ? print(*finding, op) : ""));
}

Operator state_operator(const Operator& op)
{
    if (!op.finish && !op.empty)
        return without_outputs(op);
    Operator derived = without_outputs(op);
    derived.finish.reset();
    derived.empty.reset();
    derived.results.clear();
    for (const auto& field : op.state)
        derived.results.push_back({field.name, field.type, {}});
    return check(std::move(derived));
}

Operator stateless_operator(const Operator& given)
{
    auto op = without_outputs(given);
    op.append.reset();
    op.finish.reset();
    op.empty.reset();
    op.factors.reset();
    op.laws = {true, false};
    const auto field = unused_name(op, "nothing");
    op.state = {{field, Type::i32, Expression(0), {}}};
    op.results = {{field, Type::i32, {}}};
    op.lift = {{}, {{field, Expression(0), {}}}, {}};
    op.combine = {
        {},
        {{field, call("max", {make_field(Operand::earlier, field), make_field(Operand::later, field)}), {}}},
        {}};
    op.keeps_results = false;
    return check(std::move(op));
}

PartOperator inner_operator(const Operator& given)
{
    PartOperator part{without_unread_results(given)};
    const auto op = part.op;
    const bool finish_numbers = op.finish && uses_name(*op.finish, "segment");
    part.misnumbers_empties =
        op.allows_empty() && (op.empty ? uses_name(*op.empty, "segment") : finish_numbers);
    if (finish_numbers) {
        // The identity has no segment number, so the operator needs an expression for the results of empty
        // segments.
        if (!part.op.empty && op.has_identity())
            part.op.empty = without_identity(op).empty;
        carry_segment(part);
    }
    std::map<std::string, Expression> places;
    add_base(part, places, "index", BaseTable::index, behind_base("index"));
    add_base(part, places, "segment", BaseTable::segment, behind_base("segment"));
    if (counts_alike(part))
        return part;
    replace_places(part, places);
    part.op = check(std::move(part.op));
    return part;
}

PartOperator piece_operator(const Operator& op)
{
    PartOperator part{state_operator(op)};
    add_piece_places(part);
    if (!counts_alike(part))
        part.op = check(std::move(part.op));
    return part;
}

PartOperator output_piece_operator(const Operator& op)
{
    PartOperator part{op.scan ? state_operator(op) : stateless_operator(op)};
    auto& piece = part.op;
    piece.scan = op.scan;
    piece.map = op.map;
    for (const auto& output : op.outputs) {  // the piece's results are state fields, which may have this name
        const auto name = unused_name(piece, fmt::format("scanned{}", piece.outputs.size()));
        piece.outputs.push_back({name, output.type, {}});
        for (auto* block : {piece.scan ? &piece.scan->block : nullptr, piece.map ? &*piece.map : nullptr})
            if (block != nullptr)
                for (auto& set : block->assignments)
                    if (set.field == output.name)
                        set.field = name;
    }
    add_piece_places(part);  // later names of segments are those of pieces
    if (op.scan)
        carry_state(part);
    if (op.map)
        read_results(part, op);
    if (op.map && op.scan) {
        // The results of the piece are fields of its state, and a map refuses those named like a parameter.
        piece.finish = copied_state(piece);
        for (std::size_t f = 0; f < piece.results.size(); ++f) {
            piece.results[f].name = unused_name(piece, fmt::format("state{}", f));
            piece.finish->assignments[f].field = piece.results[f].name;
        }
    }
    piece = check(std::move(piece));
    return part;
}

bool counts_alike(const PartOperator& part) { return part.bases.empty(); }

}  // namespace segfold
