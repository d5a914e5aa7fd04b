#include "codegen/print/opaque.h"

#include <algorithm>
#include <array>

namespace segfold {
namespace {

/// True for the name of a column or table. Other names are locals.
bool is_parameter(const Operator& op, const std::string& name)
{
    return std::ranges::find(op.parameters, name, &Parameter::name) != op.parameters.end();
}

template <class Is>
bool any_node(const Expression& expression, const Is& is)
{
    return is(*expression) ||
           std::ranges::any_of(expression->arguments, [&](const auto& e) { return any_node(e, is); });
}

}  // namespace

bool is_place(const ExpressionNode& node)
{
    constexpr std::array<std::string_view, 4> places = {"index", "position", "segment", "length"};
    return node.kind == ExpressionKind::name && std::ranges::find(places, node.name) != places.end();
}

bool may_negate(const std::string& symbol)
{
    return symbol == "-" || symbol == "*" || symbol == "^" || symbol == "~";
}

bool may_be_sum(const Operator& op, const Expression& expression)
{
    const auto& node = *expression;
    switch (node.kind) {
        case ExpressionKind::name: return !is_parameter(op, node.name);
        case ExpressionKind::binary: return !may_negate(node.symbol);
        case ExpressionKind::convert: return is_narrow(*node.arguments[0]->type);
        case ExpressionKind::field:
        case ExpressionKind::conditional:
        case ExpressionKind::call: return true;
        default: return false;
    }
}

bool may_wrap(const Operator& op, const Expression& expression)
{
    const auto& node = *expression;
    if (*node.type != Type::i32)
        return false;
    switch (node.kind) {
        case ExpressionKind::name: return !is_parameter(op, node.name);
        case ExpressionKind::convert: {
            const Type from = *node.arguments[0]->type;
            return is_integer(from) && !is_narrow(from);
        }
        case ExpressionKind::call: return node.name != "popcount" && node.name != "clz";
        case ExpressionKind::unary:
        case ExpressionKind::binary:
        case ExpressionKind::field:
        case ExpressionKind::conditional: return true;
        default: return false;
    }
}

bool may_be_constants(const Operator& op, const Expression& left, const Expression& right)
{
    const auto reads = [&](const ExpressionNode& node) {
        return node.kind == ExpressionKind::gather ||
               (node.kind == ExpressionKind::name && (is_parameter(op, node.name) || is_place(node)));
    };
    const auto is_field = [](const ExpressionNode& node) { return node.kind == ExpressionKind::field; };
    return !any_node(left, reads) && !any_node(right, reads) &&
           !(any_node(left, is_field) && any_node(right, is_field));
}

}  // namespace segfold
