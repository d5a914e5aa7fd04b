#include "dsl/expression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace segfold {
namespace {

using Domain = Function::Domain;

constexpr Function kFunctions[] = {
    {"min", 2, Domain::number},
    {"max", 2, Domain::number},
    {"abs", 1, Domain::number},
    {"sqrt", 1, Domain::real},
    {"rsqrt", 1, Domain::real},
    {"exp", 1, Domain::real},
    {"exp2", 1, Domain::real},
    {"expm1", 1, Domain::real},
    {"log", 1, Domain::real},
    {"log2", 1, Domain::real},
    {"log1p", 1, Domain::real},
    {"pow", 2, Domain::real},
    {"sin", 1, Domain::real},
    {"cos", 1, Domain::real},
    {"tanh", 1, Domain::real},
    {"floor", 1, Domain::real},
    {"ceil", 1, Domain::real},
    {"round", 1, Domain::real},
    {"fma", 3, Domain::real},
    {"copysign", 2, Domain::real},
    {"popcount", 1, Domain::integer, Type::i32},
    {"clz", 1, Domain::integer, Type::i32},
    {"isnan", 1, Domain::real, Type::boolean},
    {"isfinite", 1, Domain::real, Type::boolean},
};

struct Precedence {
    std::string_view symbol;
    int level;
};

/// The precedences of C, from loosest to tightest.
constexpr Precedence kPrecedences[] = {
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {"<=", 7},
    {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

/// Depth of the deepest tree that may be built. Deeper trees could exhaust the stack, because recursive
/// functions walk and free them. check() allows only kDeepestExpression.
constexpr int kDeepestTree = 16 * kDeepestExpression;

ExpressionNode node(ExpressionKind kind, Position position)
{
    ExpressionNode result;
    result.kind = kind;
    result.position = position;
    return result;
}

/// Returns the digest of a node whose arguments already have digests. All NaN have one digest, because they
/// print alike. -0 and 0 have different digests.
Digest digest_of(const ExpressionNode& node)
{
    Digest digest;
    digest.add(static_cast<std::uint64_t>(node.kind) | static_cast<std::uint64_t>(node.operand) << 8U |
               static_cast<std::uint64_t>(node.type ? 1 + static_cast<int>(*node.type) : 0) << 16U |
               static_cast<std::uint64_t>(node.negative) << 24U |
               static_cast<std::uint64_t>(node.rest + 1) << 32U |
               static_cast<std::uint64_t>(node.arguments.size()) << 40U);
    digest.add(node.name);
    digest.add(node.symbol);
    digest.add(node.magnitude);
    digest.add(std::bit_cast<std::uint64_t>(std::isnan(node.real) ? std::numeric_limits<double>::quiet_NaN()
                                                                  : node.real));
    for (const auto& argument : node.arguments)
        digest.add(argument->digest);
    return digest;
}

}  // namespace

Expression::Expression(ExpressionNode node)
{
    node.depth = node.size = 1;
    for (const auto& argument : node.arguments) {
        if (!argument.has_value())
            throw SpecError(
                "an expression is made of one that has no value: it was moved from, or is Expression(); use "
                "the one that it was moved to");
        node.depth = std::max(node.depth, argument->depth + 1);
        node.size = std::min(node.size + argument->size, kMostNodes + 1);
    }
    if (node.depth > kDeepestTree)
        throw SpecError("the expression nests deeper than " + std::to_string(kDeepestExpression) +
                        " levels; name parts of it with 'let'");
    node.digest = digest_of(node);
    node_ = std::make_shared<const ExpressionNode>(std::move(node));
}

Expression Expression::from_bool(bool value)
{
    ExpressionNode result = node(ExpressionKind::boolean, {});
    result.magnitude = value ? 1 : 0;
    return Expression(std::move(result));
}

Expression::Expression(int value) : Expression(static_cast<std::int64_t>(value)) {}

Expression::Expression(std::int64_t value)
{
    ExpressionNode result = node(ExpressionKind::integer, {});
    result.negative = value < 0;
    result.magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    *this = Expression(std::move(result));
}

Expression::Expression(std::uint64_t value)
{
    ExpressionNode result = node(ExpressionKind::integer, {});
    result.magnitude = value;
    *this = Expression(std::move(result));
}

Expression::Expression(double value)
{
    if (std::isnan(value)) {
        *this = make_constant("nan");
    } else if (std::isinf(value)) {
        *this = value > 0 ? make_constant("inf") : make_unary("-", make_constant("inf"));
    } else {
        *this = make_real({value});
    }
}

bool same(const Expression& left, const Expression& right)
{
    if (!left.has_value() || !right.has_value())
        return left.has_value() == right.has_value();
    return left->digest == right->digest;
}

Expression make_real(NearReal number, Position position)
{
    auto result = node(ExpressionKind::real, position);
    result.real = number.real;
    result.rest = number.rest;
    return Expression(std::move(result));
}

double rounded_literal(const ExpressionNode& node, Type type)
{
    return round_to(type, node.kind == ExpressionKind::real ? NearReal{node.real, node.rest}
                                                            : near_integer(node.negative, node.magnitude));
}

Expression make_name(std::string name, Position position)
{
    auto result = node(ExpressionKind::name, position);
    result.name = std::move(name);
    return Expression(std::move(result));
}

Expression make_field(Operand operand, std::string field, Position position)
{
    auto result = node(ExpressionKind::field, position);
    result.operand = operand;
    result.name = std::move(field);
    return Expression(std::move(result));
}

Expression make_constant(std::string name, Position position)
{
    auto result = node(ExpressionKind::constant, position);
    result.name = std::move(name);
    return Expression(std::move(result));
}

Expression make_limit(std::string name, Type type, Position position)
{
    auto result = node(ExpressionKind::limit, position);
    result.name = std::move(name);
    result.type = type;
    return Expression(std::move(result));
}

Expression make_unary(std::string symbol, Expression argument, Position position)
{
    // A minus before a number becomes part of the number. So `-1` is a literal, and the lowest integer can be
    // written.
    const bool number = symbol == "-" && argument.has_value() &&
                        (argument->kind == ExpressionKind::integer || argument->kind == ExpressionKind::real);
    if (number && !argument->negative && !std::signbit(argument->real)) {
        ExpressionNode result = *argument;
        result.negative = result.kind == ExpressionKind::integer && result.magnitude != 0;
        result.real = result.kind == ExpressionKind::real ? -result.real : 0;
        result.rest = -result.rest;
        result.position = position;
        return Expression(std::move(result));
    }
    auto result = node(ExpressionKind::unary, position);
    result.symbol = std::move(symbol);
    result.arguments = {std::move(argument)};
    return Expression(std::move(result));
}

Expression make_binary(std::string symbol, Expression left, Expression right, Position position)
{
    auto result = node(ExpressionKind::binary, position);
    result.symbol = std::move(symbol);
    result.arguments = {std::move(left), std::move(right)};
    return Expression(std::move(result));
}

Expression make_conditional(Expression condition, Expression yes, Expression no, Position position)
{
    auto result = node(ExpressionKind::conditional, position);
    result.arguments = {std::move(condition), std::move(yes), std::move(no)};
    return Expression(std::move(result));
}

Expression make_call(std::string function, std::vector<Expression> arguments, Position position)
{
    auto result = node(ExpressionKind::call, position);
    result.name = std::move(function);
    result.arguments = std::move(arguments);
    return Expression(std::move(result));
}

Expression make_convert(Type type, Expression argument, Position position)
{
    auto result = node(ExpressionKind::convert, position);
    result.type = type;
    result.arguments = {std::move(argument)};
    return Expression(std::move(result));
}

Expression make_gather(std::string table, Expression index, Position position)
{
    auto result = node(ExpressionKind::gather, position);
    result.name = std::move(table);
    result.arguments = {std::move(index)};
    return Expression(std::move(result));
}

Expression with_type(const Expression& expression, std::vector<Expression> arguments, Type type)
{
    ExpressionNode result = *expression;
    result.arguments = std::move(arguments);
    result.type = type;
    return Expression(std::move(result));
}

Expression operator+(const Expression& left, const Expression& right)
{
    return make_binary("+", left, right);
}
Expression operator-(const Expression& left, const Expression& right)
{
    return make_binary("-", left, right);
}
Expression operator*(const Expression& left, const Expression& right)
{
    return make_binary("*", left, right);
}
Expression operator/(const Expression& left, const Expression& right)
{
    return make_binary("/", left, right);
}
Expression operator%(const Expression& left, const Expression& right)
{
    return make_binary("%", left, right);
}
Expression operator&(const Expression& left, const Expression& right)
{
    return make_binary("&", left, right);
}
Expression operator|(const Expression& left, const Expression& right)
{
    return make_binary("|", left, right);
}
Expression operator^(const Expression& left, const Expression& right)
{
    return make_binary("^", left, right);
}
Expression operator<<(const Expression& left, const Expression& right)
{
    return make_binary("<<", left, right);
}
Expression operator>>(const Expression& left, const Expression& right)
{
    return make_binary(">>", left, right);
}
Expression operator==(const Expression& left, const Expression& right)
{
    return make_binary("==", left, right);
}
Expression operator!=(const Expression& left, const Expression& right)
{
    return make_binary("!=", left, right);
}
Expression operator<(const Expression& left, const Expression& right)
{
    return make_binary("<", left, right);
}
Expression operator<=(const Expression& left, const Expression& right)
{
    return make_binary("<=", left, right);
}
Expression operator>(const Expression& left, const Expression& right)
{
    return make_binary(">", left, right);
}
Expression operator>=(const Expression& left, const Expression& right)
{
    return make_binary(">=", left, right);
}
Expression operator&&(const Expression& left, const Expression& right)
{
    return make_binary("&&", left, right);
}
Expression operator||(const Expression& left, const Expression& right)
{
    return make_binary("||", left, right);
}
Expression operator-(const Expression& argument) { return make_unary("-", argument); }
Expression operator!(const Expression& argument) { return make_unary("!", argument); }
Expression operator~(const Expression& argument) { return make_unary("~", argument); }

Expression select(const Expression& condition, const Expression& yes, const Expression& no)
{
    return make_conditional(condition, yes, no);
}

Expression call(std::string function, std::vector<Expression> arguments)
{
    return make_call(std::move(function), std::move(arguments));
}

Expression convert(Type type, const Expression& argument) { return make_convert(type, argument); }
Expression lowest(Type type) { return make_limit("lowest", type); }
Expression highest(Type type) { return make_limit("highest", type); }
Expression epsilon(Type type) { return make_limit("epsilon", type); }
Expression infinity() { return make_constant("inf"); }
Expression not_a_number() { return make_constant("nan"); }

const Function* find_function(std::string_view name)
{
    const auto found = std::ranges::find(kFunctions, name, &Function::name);
    return found == std::end(kFunctions) ? nullptr : found;
}

std::vector<std::string_view> function_names()
{
    std::vector<std::string_view> names;
    for (const auto& function : kFunctions)
        names.push_back(function.name);
    return names;
}

bool gathers(const Expression& expression)
{
    return expression->kind == ExpressionKind::gather ||
           std::ranges::any_of(expression->arguments, [](const auto& e) { return gathers(e); });
}

bool gathers(const Expression& expression, std::string_view table)
{
    return (expression->kind == ExpressionKind::gather && expression->name == table) ||
           std::ranges::any_of(expression->arguments, [&](const auto& e) { return gathers(e, table); });
}

int precedence(std::string_view symbol)
{
    const auto found = std::ranges::find(kPrecedences, symbol, &Precedence::symbol);
    return found == std::end(kPrecedences) ? 0 : found->level;
}

}  // namespace segfold
