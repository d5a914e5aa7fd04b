#include <algorithm>

#include "dsl/laws.h"

namespace segfold {
namespace {

/// A checked `expression` with every field of the state replaced by its identity.
Expression of_identity(const Operator& op, const Expression& expression)
{
    if (expression->kind == ExpressionKind::field) {
        const auto field = std::ranges::find(op.state, expression->name, &StateField::name);
        return *field->identity;
    }
    if (expression->arguments.empty())
        return expression;
    std::vector<Expression> arguments;
    for (const auto& argument : expression->arguments)
        arguments.push_back(of_identity(op, argument));
    return with_type(expression, std::move(arguments), *expression->type);
}

/// What makes the result of an empty segment of the operator's identity.
Block empty_block(const Operator& op)
{
    Block block;
    if (op.finish) {
        block = *op.finish;
        for (auto& let : block.lets)
            let.value = of_identity(op, let.value);
        for (auto& assignment : block.assignments)
            assignment.value = of_identity(op, assignment.value);
        return block;
    }
    for (std::size_t i = 0; i < op.results.size(); ++i)
        block.assignments.push_back({op.results[i].name, *op.state[i].identity, {}});
    return block;
}

}  // namespace

Operator without_identity(Operator op)
{
    if (!op.has_identity())
        return op;
    if (!op.empty)
        op.empty = empty_block(op);
    for (auto& field : op.state)
        field.identity.reset();
    return op;
}

}  // namespace segfold
