#include "codegen/costs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace segfold {
namespace {

// Returns the cost of a node without its arguments, in additions. Divisions and transcendental functions take
// dozens of instructions.
std::int64_t own_operations(const ExpressionNode& node)
{
    constexpr std::int64_t kLong = 8;
    constexpr std::string_view kLongCalls[] = {"sqrt", "rsqrt", "exp", "exp2", "expm1", "log",
                                               "log2", "log1p", "pow", "sin",  "cos",   "tanh"};
    if (node.kind == ExpressionKind::binary && (node.symbol == "/" || node.symbol == "%"))
        return kLong;
    if (node.kind == ExpressionKind::call &&
        std::ranges::find(kLongCalls, std::string_view(node.name)) != std::end(kLongCalls))
        return kLong;
    return node.arguments.empty() ? 0 : 1;
}

std::int64_t operations(const Expression& expression)
{
    std::int64_t count = own_operations(*expression);
    for (const auto& argument : expression->arguments)
        count += operations(argument);
    return count;
}

std::int64_t operations(const Block& block)
{
    std::int64_t count = 0;
    for (const auto& let : block.lets)
        count += operations(let.value);
    for (const auto& assignment : block.assignments)
        count += operations(assignment.value);
    return count;
}

}  // namespace

std::int64_t combine_cost(const Operator& op) { return operations(op.combine); }

std::int64_t element_cost(const Operator& op)
{
    return op.append ? operations(*op.append) : operations(op.lift) + combine_cost(op);
}

bool is_costly(const Operator& op)
{
    constexpr std::int64_t kCheap = 12;
    return combine_cost(op) > kCheap;
}

bool is_called(const Operator& op)
{
    constexpr std::int64_t kMostInline = 128;  // per field of the state, because a call passes all fields
    return combine_cost(op) > kMostInline * static_cast<std::int64_t>(op.state.size());
}

bool has_mixed_fields(const Operator& op)
{
    std::size_t least = 8, most = 0;
    for (const auto& field : op.state) {
        least = std::min(least, size_bytes(field.type));
        most = std::max(most, size_bytes(field.type));
    }
    return least < 4 && least != most;
}

bool has_many_fields(const Operator& op)
{
    constexpr std::size_t kMostInline = 9;
    return op.state.size() > kMostInline;
}

bool combine_calls_library(const Operator& op)
{
    const auto calls = [](const auto& self, const Expression& expression) -> bool {
        constexpr std::string_view kInstructions[] = {"sqrt", "rsqrt"};
        const bool is_long = own_operations(*expression) > 1 && expression->kind == ExpressionKind::call;
        return (is_long && std::ranges::find(kInstructions, expression->name) == std::end(kInstructions)) ||
               std::ranges::any_of(expression->arguments,
                                   [&](const auto& argument) { return self(self, argument); });
    };
    return std::ranges::any_of(op.combine.lets, [&](const auto& let) { return calls(calls, let.value); }) ||
           std::ranges::any_of(op.combine.assignments,
                               [&](const auto& set) { return calls(calls, set.value); });
}

}  // namespace segfold
