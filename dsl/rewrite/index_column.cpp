#include "dsl/rewrite/index_column.h"

#include <utility>

#include "dsl/check/check.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

/// Replaces `index` by `place`. Only limits and conversions keep their types; check() finds the others again.
Expression with_place(const Expression& expression, const Expression& place)
{
    if (expression->kind == ExpressionKind::name && expression->name == "index")
        return place;
    ExpressionNode node = *expression;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type.reset();
    for (auto& argument : node.arguments)
        argument = with_place(argument, place);
    return Expression(std::move(node));
}

void replace_index(Block& block, const Expression& place)
{
    for (auto& let : block.lets)
        let.value = with_place(let.value, place);
    for (auto& assignment : block.assignments)
        assignment.value = with_place(assignment.value, place);
}

}  // namespace

bool reads_index(const Operator& op)
{
    const auto reads = [](const Block& block) { return uses_name(block, "index"); };
    return reads(op.lift) || (op.map && reads(*op.map)) || (op.scan && reads(op.scan->block));
}

Operator with_index_column(Operator op)
{
    const auto name = unused_name(op, "place");
    op.parameters.push_back({name, Type::i64, false, {}});
    const auto place = make_name(name);
    // Searches for counter-examples try any number in a column, but laws may rely on indices of at least 0.
    replace_index(op.lift, make_call("max", {place, Expression(0)}));
    // `append` may rely on ascending indices, which a column does not promise. Without it, combine() and lift
    // are used.
    if (op.append && uses_name(*op.append, "index"))
        op.append.reset();
    if (op.map)
        replace_index(*op.map, place);
    if (op.scan)
        replace_index(op.scan->block, place);
    op.factors.reset();
    return check(std::move(op));
}

}  // namespace segfold
