#include "codegen/print/whole_division.h"

#include <cmath>

#include "codegen/print/literal_text.h"

namespace segfold {
namespace {

/// True for an f32 that is a converted integer or a whole literal up to 2^24. The quotient of two such
/// numbers is never denormal, and overflows only if the divisor is 0.
bool is_whole(const ExpressionNode& node)
{
    constexpr double kHighest = 1 << 24;
    if (node.kind == ExpressionKind::integer || node.kind == ExpressionKind::real) {
        const double value = literal_value(node);
        return std::abs(value) <= kHighest && value == std::floor(value) && !std::signbit(value);
    }
    return node.kind == ExpressionKind::convert && is_integer(*node.arguments[0]->type);
}

}  // namespace

bool is_whole_division(const ExpressionNode& node)
{
    return node.type == Type::f32 && node.symbol == "/" &&
           node.arguments[1]->kind == ExpressionKind::convert && is_whole(*node.arguments[0]) &&
           is_whole(*node.arguments[1]);
}

}  // namespace segfold
