#include <algorithm>

#include "dsl/laws/laws.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

const StateField& field_of(const Operator& op, const Expression& expression)
{
    return *std::ranges::find(op.state, expression->name, &StateField::name);
}

/// Replaces the state's fields in a checked `expression` by their identities, each converted to the field's
/// type. Without the conversion, a bare number would take its type from the context: 0 in f32(0) is an f32.
Expression of_identity(const Operator& op, const Expression& expression)
{
    if (expression->kind == ExpressionKind::field) {
        const auto& field = field_of(op, expression);
        return with_type(make_convert(field.type, *field.identity), {*field.identity}, field.type);
    }
    if (expression->arguments.empty())
        return expression;
    std::vector<Expression> arguments;
    for (const auto& argument : expression->arguments)
        arguments.push_back(of_identity(op, argument));
    return with_type(expression, std::move(arguments), *expression->type);
}

/// Replaces fields by their identities in an assigned value. A value that is just a field needs no
/// conversion, because a bare number takes its type from the assigned field.
Expression assigned_identity(const Operator& op, const Expression& expression)
{
    return expression->kind == ExpressionKind::field ? *field_of(op, expression).identity
                                                     : of_identity(op, expression);
}

/// Returns the part `empty` that gives the same results as finish of the operator's identity.
Block empty_block(const Operator& op)
{
    Block block;
    if (op.finish) {
        block = *op.finish;
        for (auto& let : block.lets)
            let.value = of_identity(op, let.value);
        for (auto& assignment : block.assignments)
            assignment.value = assigned_identity(op, assignment.value);
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
    if (reads_before(op)) {  // scan reads the identity before the first element
        std::string field;
        return with_neutral_identity(std::move(op), field);
    }
    if (!op.empty)
        op.empty = empty_block(op);
    for (auto& field : op.state)
        field.identity.reset();
    return op;
}

}  // namespace segfold
