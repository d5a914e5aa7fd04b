#include "dsl/check/typing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dsl/check/expand.h"
#include "dsl/printer.h"

namespace segfold {
namespace {

std::string text(Type type) { return std::string(name(type)); }

bool is_comparison(std::string_view symbol)
{
    constexpr std::array<std::string_view, 6> symbols = {"==", "!=", "<", "<=", ">", ">="};
    return std::ranges::find(symbols, symbol) != symbols.end();
}

bool is_order(std::string_view symbol) { return is_comparison(symbol) && symbol != "==" && symbol != "!="; }
bool is_logical(std::string_view symbol) { return symbol == "&&" || symbol == "||"; }
bool is_shift(std::string_view symbol) { return symbol == "<<" || symbol == ">>"; }
bool is_bitwise(std::string_view symbol) { return symbol == "&" || symbol == "|" || symbol == "^"; }
bool is_number(Type type) { return type != Type::boolean; }

/// Largest magnitude of a negative and of a positive literal of an integer type.
struct Magnitudes {
    std::uint64_t below, above;
};

Magnitudes magnitudes(Type type)
{
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    if (is_signed_integer(type)) {
        const std::uint64_t half = std::uint64_t{1} << (bits - 1);
        return {half, half - 1};
    }
    return {0, bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1};
}

/// True if the literal rounds to a finite value of `type`.
bool fits(const ExpressionNode& literal, Type type) { return std::isfinite(rounded_literal(literal, type)); }

std::string_view domain_name(Function::Domain domain)
{
    switch (domain) {
        case Function::Domain::number: return "numbers";
        case Function::Domain::real: return "floating-point values";
        default: return "integers";
    }
}

/// Returns an example of a conversion, `T(...)`, with the expression itself if it is short.
std::string conversion(Type type, const Expression& expression)
{
    constexpr std::size_t longest = 24;
    const auto inner = expression->size <= 8 ? print(expression) : "";
    return text(type) + "(" + (inner.empty() || inner.size() > longest ? "..." : inner) + ")";
}

/// Returns whichever of two types can hold more values of the other.
Type wider(Type left, Type right)
{
    if (is_float(left) != is_float(right))
        return is_float(left) ? left : right;
    if (is_number(left) != is_number(right))
        return is_number(left) ? left : right;
    return size_bytes(right) > size_bytes(left) ? right : left;
}

/// Returns advice for a number that is too large for a floating-point type.
std::string inf_or_wider(const ExpressionNode& number)
{
    return std::string("use inf, or ") + (fits(number, Type::f32) ? "f32" : "f64");
}

/// True if an operation takes two operands of this type.
bool takes(const std::string& symbol, Type type)
{
    if (is_logical(symbol))
        return type == Type::boolean;
    if (is_shift(symbol) || symbol == "%")
        return is_integer(type);
    if (is_bitwise(symbol))
        return !is_float(type);
    return symbol == "==" || symbol == "!=" || is_number(type);
}

/// Returns the operands of an operation in words, for a message.
std::string taken_by(const std::string& symbol)
{
    if (is_logical(symbol))
        return "it takes bools; compare with something to get one";
    if (is_shift(symbol) || symbol == "%")
        return "it takes integers";
    if (is_bitwise(symbol))
        return std::string("it takes integers or bools") +
               (symbol == "^" ? "; powers are written pow(x, y)" : "");
    return "it takes numbers";
}

/// True if the language has the operation, constant or limit of `node`. The parser makes only such nodes, but
/// C++ code may make others.
bool is_known(const ExpressionNode& node)
{
    const auto one_of = [](std::string_view word, std::initializer_list<std::string_view> words) {
        return std::ranges::find(words, word) != words.end();
    };
    switch (node.kind) {
        case ExpressionKind::unary: return one_of(node.symbol, {"!", "~", "-"});
        case ExpressionKind::binary: return precedence(node.symbol) != 0;
        case ExpressionKind::constant: return one_of(node.name, {"inf", "nan"});
        case ExpressionKind::limit: return one_of(node.name, {"lowest", "highest", "epsilon"});
        default: return true;
    }
}

bool accepts(Function::Domain domain, Type type)
{
    switch (domain) {
        case Function::Domain::number: return is_number(type);
        case Function::Domain::real: return is_float(type);
        default: return is_integer(type);
    }
}

}  // namespace

bool has_fraction(const Expression& expression)
{
    return expression->kind == ExpressionKind::real || expression->kind == ExpressionKind::constant ||
           std::ranges::any_of(expression->arguments, has_fraction);
}

Expression Typing::value(const Expression& expression, Type wanted, const std::string& what)
{
    auto result = resolve(expression, wanted);
    if (*result->type != wanted)
        fail(expression, what + " is " + text(wanted) + ", but its value is " + text(*result->type),
             "convert it: " + conversion(wanted, expression));
    return result;
}

Expression Typing::value(const Expression& expression, std::optional<Type> context)
{
    return resolve(expression, context);
}

Type Typing::likely_type(bool real) const
{
    const auto suits = [&](Type type) { return is_number(type) && (!real || is_float(type)); };
    for (const auto& field : op_.state)
        if (suits(field.type))
            return field.type;
    for (const auto& parameter : op_.parameters)
        if (suits(parameter.type))
            return parameter.type;
    return real ? Type::f32 : Type::i32;
}

bool Typing::is_silent(const Expression& expression) const
{
    return (expression->kind == ExpressionKind::name && scope_.silent.contains(expression->name)) ||
           std::ranges::any_of(expression->arguments, [&](const Expression& e) { return is_silent(e); });
}

void Typing::refuse_untyped(const Expression& at, const std::string& message, const Expression& example) const
{
    if (is_silent(at))
        throw Silence();
    const bool real = has_fraction(example);
    const auto likely = likely_type(real);
    const auto advice = "write it as a conversion: ";
    if (!real && is_float(likely))
        fail(at, message, advice + conversion(Type::i32, example) + ", or " + conversion(likely, example));
    fail(at, message, advice + conversion(likely, example));
}

std::optional<Type> Typing::stated(const Expression& expression) const
{
    const auto& node = *expression;
    switch (node.kind) {
        case ExpressionKind::boolean: return Type::boolean;
        case ExpressionKind::integer:
        case ExpressionKind::real:
        case ExpressionKind::constant: return node.type;
        case ExpressionKind::limit:
        case ExpressionKind::convert: return node.type;
        case ExpressionKind::name:
            if (const auto found = scope_.names.find(node.name); found != scope_.names.end())
                return found->second;
            if (const auto found = scope_.state_fields.find(node.name); found != scope_.state_fields.end())
                return found->second;
            if (is_scalar(node.name))
                return scope_.tables.find(node.name)->second;
            return scope_.operands.contains(node.name) && op_.state.size() == 1
                       ? std::optional(op_.state[0].type)
                       : std::nullopt;
        case ExpressionKind::field: {
            const auto* known = find_field(node.name);
            return known == nullptr ? std::nullopt : std::optional(known->type);
        }
        case ExpressionKind::unary: return node.symbol == "!" ? Type::boolean : stated(node.arguments[0]);
        case ExpressionKind::binary:
            if (is_comparison(node.symbol) || is_logical(node.symbol))
                return Type::boolean;
            if (const auto left = stated(node.arguments[0]))
                return left;
            return stated(node.arguments[1]);
        case ExpressionKind::conditional:
            if (const auto yes = stated(node.arguments[1]))
                return yes;
            return stated(node.arguments[2]);
        case ExpressionKind::call: {
            const auto* function = find_function(node.name);
            if (function && function->result)
                return function->result;
            for (const auto& argument : node.arguments)
                if (const auto type = stated(argument))
                    return type;
            return std::nullopt;
        }
        case ExpressionKind::gather: {
            const auto table = scope_.tables.find(node.name);
            return table == scope_.tables.end() ? std::nullopt : std::optional(table->second);
        }
    }
    return std::nullopt;
}

Expression Typing::resolve(const Expression& expression, std::optional<Type> context)
{
    if (!is_known(*expression))
        fail(expression, "unknown operation '" + expression->symbol + expression->name + "'");
    switch (expression->kind) {
        case ExpressionKind::boolean: return with_type(expression, {}, Type::boolean);
        case ExpressionKind::integer:
        case ExpressionKind::real:
        case ExpressionKind::constant:
            return literal(expression, expression->type ? expression->type : context);
        case ExpressionKind::limit: {
            const Type type = *expression->type;
            if (!is_number(type) || (expression->name == "epsilon" && !is_float(type)))
                fail(expression, expression->name + "(" + text(type) + ") does not exist",
                     expression->name == "epsilon"  ? "epsilon is of a floating-point type"
                     : expression->name == "lowest" ? "write false"
                                                    : "write true");
            return expression;
        }
        case ExpressionKind::name: return name(expression);
        case ExpressionKind::field: return field(expression);
        case ExpressionKind::unary: return unary(expression, context);
        case ExpressionKind::binary: return binary(expression, context);
        case ExpressionKind::conditional: return conditional(expression, context);
        case ExpressionKind::call: return call(expression, context);
        case ExpressionKind::convert: return convert(expression);
        case ExpressionKind::gather: return gather(expression);
    }
    throw InternalError("unknown kind of expression");
}

Expression Typing::literal(const Expression& expression, std::optional<Type> context) const
{
    const auto& node = *expression;
    if (!context)
        refuse_untyped(expression, "nothing here says of which type this number is", expression);
    if (node.kind == ExpressionKind::integer)
        return integer(expression, *context);
    if (!is_float(*context))
        fail(expression,
             (node.kind == ExpressionKind::constant ? node.name : std::string("a number with a fraction")) +
                 " is not of type " + text(*context),
             "only floating-point types have it");
    if (node.kind == ExpressionKind::real && !fits(node, *context))
        fail(expression, "this number does not fit in " + text(*context), inf_or_wider(node));
    return with_type(expression, {}, *context);
}

Expression Typing::integer(const Expression& expression, Type type) const
{
    const auto& node = *expression;
    const std::string digits = (node.negative ? "-" : "") + std::to_string(node.magnitude);
    if (type == Type::boolean)
        fail(expression, digits + " is not a bool", "write true or false");
    if (is_integer(type)) {
        const auto limits = magnitudes(type);
        if (node.magnitude > (node.negative ? limits.below : limits.above))
            fail(expression, digits + " does not fit in " + text(type),
                 text(type) + " holds " + (limits.below ? "-" : "") + std::to_string(limits.below) + " to " +
                     std::to_string(limits.above));
    } else if (!fits(node, type)) {
        fail(expression, digits + " does not fit in " + text(type), inf_or_wider(node));
    }
    return with_type(expression, {}, type);
}

Expression Typing::unary(const Expression& expression, std::optional<Type> context)
{
    const auto& node = *expression;
    auto argument = resolve(node.arguments[0], node.symbol == "!" ? Type::boolean : context);
    const Type type = *argument->type;
    const bool right = node.symbol == "!"   ? type == Type::boolean
                       : node.symbol == "~" ? is_integer(type)
                                            : is_number(type);
    if (!right)
        fail(expression, "'" + node.symbol + "' of " + text(type),
             node.symbol == "!"   ? "it takes a bool"
             : node.symbol == "~" ? "it takes an integer"
                                  : "it takes a number");
    return with_type(expression, {std::move(argument)}, type);
}

Expression Typing::binary(const Expression& expression, std::optional<Type> context)
{
    const auto& node = *expression;
    const auto& symbol = node.symbol;
    const bool compares = is_comparison(symbol);
    auto type = is_logical(symbol) ? std::optional(Type::boolean) : stated(node.arguments[0]);
    if (!type)
        type = stated(node.arguments[1]);
    if (!type && !compares)
        type = context;
    if (!type)
        refuse_untyped(expression, "nothing here says of which type these numbers are", node.arguments[0]);

    const auto& first = *node.arguments[0];
    if (is_order(symbol) && first.kind == ExpressionKind::binary && is_order(first.symbol))
        fail(expression, "'" + symbol + "' of what '" + first.symbol + "' gives, which is a bool",
             "comparisons do not chain; write a < b && b < c");

    auto left = resolve(node.arguments[0], type);
    auto right = resolve(node.arguments[1], type);
    const Type l = *left->type;
    const Type r = *right->type;
    const bool convertible = l != r && (takes(symbol, l) || takes(symbol, r));
    if (convertible && !is_logical(symbol)) {
        const Type common = takes(symbol, l) && takes(symbol, r) ? wider(l, r) : takes(symbol, l) ? l : r;
        fail(expression, "'" + symbol + "' of " + text(l) + " and " + text(r),
             "convert one of them, e.g. " + conversion(common, node.arguments[common == l ? 1 : 0]));
    }
    if (l != r || !takes(symbol, l))
        fail(expression, "'" + symbol + "' of " + text(l) + " and " + text(r), taken_by(symbol));
    if (node.name == kChoosesEntry) {
        if (!is_integer(l))
            fail(node.arguments[0], "an index of type " + text(l), "convert it to an integer: i32(...)");
        ExpressionNode plain = node;
        plain.name.clear();
        return with_type(Expression(std::move(plain)), {std::move(left), std::move(right)}, Type::boolean);
    }
    const bool divides = symbol == "/" || symbol == "%";
    if (divides && is_integer(l) && right->kind == ExpressionKind::integer && right->magnitude == 0)
        fail(expression, "division by zero", "the divisor is the number 0");
    return with_type(expression, {std::move(left), std::move(right)}, compares ? Type::boolean : l);
}

Expression Typing::conditional(const Expression& expression, std::optional<Type> context)
{
    const auto& node = *expression;
    auto condition = resolve(node.arguments[0], Type::boolean);
    if (*condition->type != Type::boolean)
        fail(node.arguments[0], "the condition of '?' is " + text(*condition->type),
             "compare it with something to get a bool");
    const auto type = stated(expression) ? stated(expression) : context;
    auto yes = resolve(node.arguments[1], type);
    auto no = resolve(node.arguments[2], type);
    if (*yes->type != *no->type)
        fail(expression, "'?' chooses between " + text(*yes->type) + " and " + text(*no->type),
             "convert one of them, e.g. " +
                 conversion(wider(*yes->type, *no->type),
                            node.arguments[wider(*yes->type, *no->type) == *yes->type ? 2 : 1]));
    const Type chosen = *yes->type;
    return with_type(expression, {std::move(condition), std::move(yes), std::move(no)}, chosen);
}

Expression Typing::call(const Expression& expression, std::optional<Type> context)
{
    const auto& node = *expression;
    const auto* function = find_function(node.name);
    if (!function)
        refuse_function(expression);
    if (static_cast<int>(node.arguments.size()) != function->arity)
        fail(expression,
             node.name + " takes " + std::to_string(function->arity) +
                 (function->arity == 1 ? " argument" : " arguments") + ", found " +
                 std::to_string(node.arguments.size()),
             (node.name == "min" || node.name == "max") && node.arguments.size() > 2
                 ? "nest them: " + node.name + "(p, " + node.name + "(q, r))"
                 : "");
    std::optional<Type> type;
    for (const auto& argument : node.arguments)
        if (!type)
            type = stated(argument);
    if (!type && !function->result)
        type = context;
    std::vector<Expression> arguments;
    for (const auto& argument : node.arguments) {
        arguments.push_back(resolve(argument, type));
        const Type found = *arguments.back()->type;
        if (!accepts(function->domain, found))
            fail(argument, node.name + " of " + text(found),
                 "it takes " + std::string(domain_name(function->domain)));
        if (found != *arguments[0]->type)
            fail(expression, node.name + " of " + text(*arguments[0]->type) + " and " + text(found),
                 "its arguments must be of one type");
    }
    const Type result = function->result ? *function->result : *arguments[0]->type;
    return with_type(expression, std::move(arguments), result);
}

Expression Typing::convert(const Expression& expression)
{
    const auto& node = *expression;
    std::optional<Type> context = stated(node.arguments[0]);
    if (node.symbol == kGenericConversion && context == node.type)
        return resolve(node.arguments[0], context);
    if (!context) {
        // A bare number takes the target type, with two exceptions. If the target is bool, it is i32. If it
        // has a fraction or is inf or nan, and the target is not a floating-point type, it is f64.
        const auto& bare = node.arguments[0]->kind == ExpressionKind::unary ? node.arguments[0]->arguments[0]
                                                                            : node.arguments[0];
        const bool fraction = bare->kind == ExpressionKind::real || bare->kind == ExpressionKind::constant;
        context = *node.type == Type::boolean ? Type::i32 : *node.type;
        if (fraction && !is_float(*context))
            context = Type::f64;
    }
    const auto plain = make_convert(*node.type, node.arguments[0], node.position);
    return with_type(plain, {resolve(node.arguments[0], context)}, *node.type);
}

}  // namespace segfold
