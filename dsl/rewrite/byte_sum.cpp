#include "dsl/rewrite/byte_sum.h"

#include <algorithm>

#include "dsl/check/append.h"

namespace segfold {
namespace {

bool is_field(const Expression& expression, Operand operand)
{
    return expression->kind == ExpressionKind::field && expression->operand == operand;
}

/// True for `a + b` or `b + a`, where a and b are the only fields of the two states.
bool is_sum(const Expression& expression)
{
    if (expression->kind != ExpressionKind::binary || expression->symbol != "+")
        return false;
    const auto is_of = [&](Operand first, Operand second) {
        return is_field(expression.argument(0), first) && is_field(expression.argument(1), second);
    };
    return is_of(Operand::earlier, Operand::later) || is_of(Operand::later, Operand::earlier);
}

}  // namespace

const Parameter* summed_bytes(const Operator& op)
{
    if (op.state.size() != 1 || !op.has_identity() || !op.lift.lets.empty() || !op.combine.lets.empty())
        return nullptr;
    const auto type = op.state[0].type;
    const auto& lifted = op.lift.assignments[0].value;
    if ((type != Type::i32 && type != Type::u32) || !is_sum(op.combine.assignments[0].value) ||
        lifted->kind != ExpressionKind::convert || lifted.argument(0)->kind != ExpressionKind::name)
        return nullptr;
    const auto is_column = [&](const Parameter& parameter) {
        return parameter.name == lifted.argument(0)->name && !parameter.table && !parameter.row &&
               (parameter.type == Type::i8 || parameter.type == Type::u8);
    };
    const auto found = std::ranges::find_if(op.parameters, is_column);
    return found == op.parameters.end() ? nullptr : &*found;
}

Operator with_byte_append(Operator op)
{
    if (op.append || summed_bytes(op) == nullptr)
        return op;
    op.append = joined_lift(op);
    return op;
}

}  // namespace segfold
