#include "codegen/atomic.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "codegen/cuda_names.h"

namespace segfold {
namespace {

/// True for `a.f` and `b.f`, or `b.f` and `a.f`.
bool are_both_operands(const Expression& left, const Expression& right, const std::string& field)
{
    for (const auto& side : {left, right})
        if (side->kind != ExpressionKind::field || side->name != field)
            return false;
    return left->operand != right->operand && left->operand != Operand::state &&
           right->operand != Operand::state;
}

/// "+", "min", ... where the expression applies it to both operands' `field`.
std::string operation_on_both(const Expression& expression, const std::string& field)
{
    const bool has_two =
        (expression->kind == ExpressionKind::binary || expression->kind == ExpressionKind::call) &&
        expression->arguments.size() == 2;
    if (!has_two || !are_both_operands(expression.argument(0), expression.argument(1), field))
        return "";
    return expression->kind == ExpressionKind::call ? expression->name : expression->symbol;
}

bool is_wide_enough_integer(Type type) { return is_integer(type) && size_bytes(type) >= 4; }

}  // namespace

std::optional<std::string> atomic_function(const Operator& op)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFunctions = {
        {{"+", "atomicAdd"},
         {"min", "atomicMin"},
         {"max", "atomicMax"},
         {"&", "atomicAnd"},
         {"|", "atomicOr"},
         {"^", "atomicXor"}}};
    if (op.state.size() != 1 || !op.has_identity() || !op.combine.lets.empty() ||
        op.combine.assignments.size() != 1)
        return std::nullopt;
    const auto& field = op.state.front();
    const auto operation = operation_on_both(op.combine.assignments.front().value, field.name);
    const bool adds_floats = operation == "+" && (field.type == Type::f32 || field.type == Type::f64);
    if (!adds_floats && !is_wide_enough_integer(field.type))
        return std::nullopt;
    for (const auto& [name, function] : kFunctions)
        if (name == operation)
            return std::string(function);
    return std::nullopt;
}

std::string atomic_combine_text(const Operator& op)
{
    const auto function = *atomic_function(op);
    // Only minima and maxima tell signed 64-bit integers from unsigned ones.
    const bool as_unsigned =
        op.state.front().type == Type::i64 && function != "atomicMin" && function != "atomicMax";
    const std::string arguments =
        as_unsigned ? "(unsigned long long*)total, (unsigned long long)state" : "total, state";
    return fmt::format(
        "// The same with what others have put to `total`, in whatever order they come.\n"
        "__device__ __forceinline__ void atomic_combine(State* total, State state)\n{{\n"
        "    {}({});\n}}\n",
        function, arguments);
}

}  // namespace segfold
