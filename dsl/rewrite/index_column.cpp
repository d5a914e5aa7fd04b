#include "dsl/rewrite/index_column.h"

#include <utility>

#include "dsl/check/check.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

/// Replaces `index` by `name`. Drops the types of all nodes except limits and conversions; check() derives
/// them again.
Expression with_name(const Expression& expression, const std::string& name)
{
    if (expression->kind == ExpressionKind::name && expression->name == "index")
        return make_name(name, expression->position);
    ExpressionNode node = *expression;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type.reset();
    for (auto& argument : node.arguments)
        argument = with_name(argument, name);
    return Expression(std::move(node));
}

void rename_index(Block& block, const std::string& name)
{
    for (auto& let : block.lets)
        let.value = with_name(let.value, name);
    for (auto& assignment : block.assignments)
        assignment.value = with_name(assignment.value, name);
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
    rename_index(op.lift, name);
    // append may rely on ascending indices, which a column does not promise. Without append, stages use lift
    // and combine.
    if (op.append && uses_name(*op.append, "index"))
        op.append.reset();
    if (op.map)
        rename_index(*op.map, name);
    if (op.scan)
        rename_index(op.scan->block, name);
    op.factors.reset();
    return check(std::move(op));
}

}  // namespace segfold
