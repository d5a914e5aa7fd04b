#include "codegen/peers/plain_operator.h"

#include <algorithm>

namespace segfold {

const Parameter* lifted_column(const Operator& op)
{
    if (op.state.size() != 1 || !op.has_identity() || !op.lift.lets.empty())
        return nullptr;
    const auto& value = op.lift.assignments[0].value;
    const auto found = std::ranges::find(op.parameters, value->name, &Parameter::name);
    const bool is_column = value->kind == ExpressionKind::name && found != op.parameters.end() &&
                           !found->table && found->type == op.state[0].type;
    return is_column ? &*found : nullptr;
}

bool stores_state(const Operator& op)
{
    return op.state.size() == 1 && op.has_identity() && !op.finish && !op.empty;
}

bool scans_state(const Operator& op)
{
    if (op.state.size() != 1 || !op.has_identity() || op.outputs.size() != 1 || !op.scan->block.lets.empty())
        return false;
    return op.scan->block.assignments[0].value->kind == ExpressionKind::field &&
           op.outputs[0].type == op.state[0].type;
}

bool is_plus(const Operator& op)
{
    if (op.state.size() != 1 || !op.has_identity() || !op.combine.lets.empty())
        return false;
    const auto& sum = op.combine.assignments[0].value;
    const auto type = op.state[0].type;
    const auto is_field = [&](const Expression& e, Operand operand) {
        return e->kind == ExpressionKind::field && e->operand == operand;
    };
    return sum->kind == ExpressionKind::binary && sum->symbol == "+" &&
           is_field(sum.argument(0), Operand::earlier) && is_field(sum.argument(1), Operand::later) &&
           size_bytes(type) >= 4;
}

}  // namespace segfold
