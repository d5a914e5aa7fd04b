#include "codegen/section/atomic.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

namespace segfold {
namespace {

/// True if one expression is `field` of combine's first operand and the other is `field` of its second
/// operand.
bool are_both_operands(const Expression& left, const Expression& right, const std::string& field)
{
    for (const auto& side : {left, right})
        if (side->kind != ExpressionKind::field || side->name != field)
            return false;
    return left->operand != right->operand && left->operand != Operand::state &&
           right->operand != Operand::state;
}

/// Returns the operation, such as "+" or "min", that the expression applies to `field` of both operands.
/// Empty if the expression is anything else.
std::string operation_on_both(const Expression& expression, const std::string& field)
{
    const bool has_two =
        (expression->kind == ExpressionKind::binary || expression->kind == ExpressionKind::call) &&
        expression->arguments.size() == 2;
    if (!has_two || !are_both_operands(expression.argument(0), expression.argument(1), field))
        return "";
    return expression->kind == ExpressionKind::call ? expression->name : expression->symbol;
}

/// Returns CUDA's name, such as "Add" or "Min", of the operation that combine() applies to the only field of
/// both states. Empty if combine() does anything else.
std::string operation_of(const Operator& op)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOperations = {
        {{"+", "Add"}, {"min", "Min"}, {"max", "Max"}, {"&", "And"}, {"|", "Or"}, {"^", "Xor"}}};
    if (op.state.size() != 1 || !op.has_identity() || !op.combine.lets.empty() ||
        op.combine.assignments.size() != 1)
        return "";
    const auto word = operation_on_both(op.combine.assignments.front().value, op.state.front().name);
    for (const auto& [symbol, operation] : kOperations)
        if (symbol == word)
            return std::string(operation);
    return "";
}

bool is_wide_enough_integer(Type type) { return is_integer(type) && size_bytes(type) >= 4; }

}  // namespace

std::optional<std::string> atomic_function(const Operator& op)
{
    const auto operation = operation_of(op);
    if (operation.empty())
        return std::nullopt;
    const auto type = op.state.front().type;
    const bool adds_floats = operation == "Add" && (type == Type::f32 || type == Type::f64);
    return adds_floats || is_wide_enough_integer(type) ? std::optional("atomic" + operation) : std::nullopt;
}

std::string atomic_combine_text(const Operator& op)
{
    const auto function = *atomic_function(op);
    // Only atomicMin() and atomicMax() have versions for signed 64-bit integers.
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

std::optional<std::string> warp_function(const Operator& op)
{
    auto operation = operation_of(op);
    const bool fits =
        !operation.empty() && is_integer(op.state.front().type) && size_bytes(op.state.front().type) == 4;
    if (!fits)
        return std::nullopt;
    operation.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(operation.front())));
    return "__reduce_" + operation + "_sync";
}

std::string redux_text(const Operator& op)
{
    const auto function = *warp_function(op);
    // CUDA's bitwise reductions of a warp take unsigned integers only.
    const bool is_bitwise =
        function.find("_and_") != std::string::npos || function.find("or_") != std::string::npos;
    const bool converts = is_bitwise && op.state.front().type == Type::i32;
    return fmt::format(
        "// The total of a warp's lanes, for all of them.\n"
        "__device__ __forceinline__ State redux(State state)\n{{\n    return {};\n}}\n",
        converts ? fmt::format("int({}(kFullMask, unsigned(state)))", function)
                 : fmt::format("{}(kFullMask, state)", function));
}

}  // namespace segfold
