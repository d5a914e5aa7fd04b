#include "dsl/rewrite/short_places.h"

#include <algorithm>
#include <limits>
#include <set>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/rewrite/short_fields.h"

namespace segfold {
namespace {

using Fields = FieldNames;

/// True if every possible value of the expression is a place (index, position, segment or one of `fields`),
/// or a number or limit that may stand for a place.
bool is_place(const Expression& expression, const Fields& fields)
{
    // Numbers must lie between the limits of i32, which replace the limits of i64.
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()) - 1;
    const auto at = [&](std::size_t i) { return is_place(expression->arguments[i], fields); };
    switch (expression->kind) {
        case ExpressionKind::integer: return expression->magnitude <= most;
        case ExpressionKind::limit: return expression->type == Type::i64;
        case ExpressionKind::name:
            return expression->name == "index" || expression->name == "position" ||
                   expression->name == "segment";
        case ExpressionKind::field: return fields.contains(expression->name);
        case ExpressionKind::conditional: return at(1) && at(2);
        default: return is_selection(expression) && at(0) && at(1);
    }
}

bool mentions(const Expression& expression, const Fields& fields)
{
    return (expression->kind == ExpressionKind::field && fields.contains(expression->name)) ||
           std::ranges::any_of(expression->arguments,
                               [&](const Expression& argument) { return mentions(argument, fields); });
}

/// True if both sides of a comparison are places, and one uses a field of the state.
bool compares_places(const Expression& expression, const Fields& fields)
{
    return is_comparison(expression) && is_place(expression->arguments[0], fields) &&
           is_place(expression->arguments[1], fields) && mentions(expression, fields);
}

/// Removes from `fields` each field that an expression uses as something else than a place. `is_place_wanted`
/// is true if the expression's own value is used as a place.
void take_out_others(const Expression& expression, bool is_place_wanted, Fields& fields)
{
    if (expression->kind == ExpressionKind::field && !is_place_wanted)
        fields.erase(expression->name);
    for (std::size_t i = 0; i < expression->arguments.size(); ++i) {
        const bool is_condition = expression->kind == ExpressionKind::conditional && i == 0;
        const bool passes_on = expression->kind == ExpressionKind::conditional || is_selection(expression);
        take_out_others(
            expression->arguments[i],
            compares_places(expression, fields) || (is_place_wanted && passes_on && !is_condition), fields);
    }
}

Fields place_fields(const Operator& op)
{
    Fields fields;
    for (const auto& field : op.state)
        if (field.type == Type::i64)
            fields.insert(field.name);
    for (std::size_t before = fields.size() + 1; fields.size() < before;) {
        before = fields.size();
        for (const auto& field : op.state)
            if (field.identity && !is_place(*field.identity, {}))
                fields.erase(field.name);
        for (const auto* block : state_blocks(op)) {
            for (const auto& let : block->lets)
                take_out_others(let.value, false, fields);
            for (const auto& assignment : block->assignments) {
                if (!is_place(assignment.value, fields))
                    fields.erase(assignment.field);
                take_out_others(assignment.value, fields.contains(assignment.field), fields);
            }
        }
    }
    return fields;
}

/// Rewrites `expression` for a state that holds `fields` in 32 bits. Only limits and conversions keep their
/// types; check() finds the other types again.
Expression shorten(const Expression& expression, bool is_place_wanted, const Fields& fields)
{
    ExpressionNode node = *expression;
    const bool names_type = node.kind == ExpressionKind::limit || node.kind == ExpressionKind::convert;
    if (!names_type)
        node.type = std::nullopt;
    if (is_place_wanted && node.kind == ExpressionKind::limit)
        node.type = Type::i32;
    if (is_place_wanted && node.kind == ExpressionKind::name)
        return make_convert(Type::i32, Expression(std::move(node)));
    const bool passes_on = node.kind == ExpressionKind::conditional || is_selection(expression);
    const bool compares = compares_places(expression, fields);
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
        const bool is_condition = node.kind == ExpressionKind::conditional && i == 0;
        node.arguments[i] =
            shorten(node.arguments[i], compares || (is_place_wanted && passes_on && !is_condition), fields);
    }
    return Expression(std::move(node));
}

Block shorten(Block block, const Fields& fields)
{
    for (auto& let : block.lets)
        let.value = shorten(let.value, false, fields);
    for (auto& assignment : block.assignments)
        assignment.value = shorten(assignment.value, fields.contains(assignment.field), fields);
    return block;
}

/// Adds to `limits` the limits of i64 that an expression uses.
void add_limits(const Expression& expression, std::set<std::string>& limits)
{
    if (expression->kind == ExpressionKind::limit && expression->type == Type::i64)
        limits.insert(expression->name);
    for (const auto& argument : expression->arguments)
        add_limits(argument, limits);
}

/// Returns the limits of i64 that `fields` may hold.
std::set<std::string> limits_of(const Operator& op, const Fields& fields)
{
    std::set<std::string> limits;
    for (const auto& field : op.state)
        if (field.identity && fields.contains(field.name))
            add_limits(*field.identity, limits);
    for (const auto* block : state_blocks(op))
        for (const auto& assignment : block->assignments)
            if (fields.contains(assignment.field))
                add_limits(assignment.value, limits);
    return limits;
}

}  // namespace

Operator short_places(Operator op)
{
    const auto fields = place_fields(op);
    if (fields.empty())
        return op;
    const auto whole = op;
    const auto limits = limits_of(op, fields);
    lengthen_reads(op, fields, limits);
    op.lift = shorten(std::move(op.lift), fields);
    op.combine = shorten(std::move(op.combine), fields);
    if (op.append)
        op.append = shorten(std::move(*op.append), fields);
    for (auto& field : op.state)
        if (fields.contains(field.name)) {
            field.type = Type::i32;
            if (field.identity)
                field.identity = shorten(*field.identity, true, fields);
        }
    try {
        return check(std::move(op));
    } catch (const SpecError&) {  // the operator would become too large
        return whole;
    }
}

}  // namespace segfold
