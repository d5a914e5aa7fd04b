#include "dsl/cpp/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace segfold {
namespace {

Expression placed(const Expression& expression, Position at)
{
    ExpressionNode node = *expression;
    node.position = at;
    return Expression(std::move(node));
}

std::string describe(const Home& home)
{
    return (home.part.empty() ? "" : home.part + " of ") + "operator '" + home.op + "'";
}

/// Returns the home (part or definition) of a value computed from values with the homes `left` and `right`.
/// Throws SpecError if no part of a definition may use both values.
HomePointer join(const HomePointer& left, const HomePointer& right, Position at)
{
    if (!right || left == right)
        return left;
    if (!left || right->definition == left)
        return right;
    if (left->definition == right)
        return left;
    throw spec_error(nullptr, at, "a value of " + describe(*left) + " meets one of " + describe(*right),
                     "make values where they are used");
}

/// Returns a local as an expression that states its type. Returns other terms unchanged.
Term without_locals(const Term& term, Type type)
{
    return term.expression->kind == ExpressionKind::name ? Terms::stated(term, type) : term;
}

}  // namespace

Term Terms::truth(bool value, Position at) { return {placed(Expression(value), at), nullptr, false}; }

Term Terms::integer(std::int64_t value, Position at)
{
    return {placed(Expression(value), at), nullptr, true};
}

Term Terms::integer(std::uint64_t value, Position at)
{
    return {placed(Expression(value), at), nullptr, true};
}

Term Terms::real(double value, Position at) { return {placed(Expression(value), at), nullptr, true}; }

Term Terms::short_real(float value, Position at)
{
    char text[32];
    auto result = static_cast<double>(value);
    const auto end = std::to_chars(text, text + sizeof text, value);
    if (!std::isfinite(value) || end.ec != std::errc())
        return real(result, at);
    std::from_chars(text, end.ptr, result);
    return {make_real(near_decimal({text, end.ptr}, result), at), nullptr, true};
}

Term Terms::constant(const char* name, Position at) { return {make_constant(name, at), nullptr, true}; }

Term Terms::limit(const char* name, Type type, Position at)
{
    return {make_limit(name, type, at), nullptr, false};
}

void Terms::refuse_moved(const char* what, Position at)
{
    throw spec_error(nullptr, at, std::string("this ") + what + " has been moved from",
                     "use the one that it was moved to");
}

Term Terms::read(const Term& term, Position at)
{
    // A term with neither expression nor name was moved from. A term with a name alone can be set but not
    // read.
    if (!term.expression.has_value() && !term.home && term.name.empty())
        refuse_moved("value", at);
    if (!term.expression.has_value() && !term.home)
        throw spec_error(nullptr, at, "field '" + term.name + "' is of a state that no operator has made",
                         "use the states that lift, combine and finish are given");
    if (!term.expression.has_value())
        throw spec_error(nullptr, at,
                         "field '" + term.name + "' is read where " + describe(*term.home) + " sets it",
                         "all fields are set together; name its value first: auto value = let(\"value\", "
                         "...)");
    Term result = term;
    if (term.expression->arguments.empty())
        result.expression = placed(term.expression, at);
    return result;
}

Term Terms::stated(const Term& term, Type type)
{
    if (!term.untyped)
        return term;
    return {make_convert(type, term.expression, term.expression->position), term.home, false};
}

Term Terms::unary(const char* symbol, const Term& argument, Type type, Position at)
{
    const auto inner = argument.untyped ? without_locals(argument, type) : argument;
    return {make_unary(symbol, inner.expression, at), inner.home, inner.untyped};
}

Term Terms::binary(const char* symbol, const Term& left, const Term& right, Type type, Position at)
{
    const std::string_view text = symbol;
    const auto home = join(left.home, right.home, at);
    const bool compares =
        text == "==" || text == "!=" || text == "<" || text == "<=" || text == ">" || text == ">=";
    if (!left.untyped || !right.untyped)
        return {make_binary(symbol, left.expression, right.expression, at), home};
    const auto first = compares ? stated(left, type) : without_locals(left, type);
    const auto second = compares ? right : without_locals(right, type);
    return {make_binary(symbol, first.expression, second.expression, at), home,
            first.untyped && second.untyped};
}

Term Terms::conditional(const Term& condition, const Term& yes, const Term& no, Type type, Position at)
{
    const auto home = join(condition.home, join(yes.home, no.home, at), at);
    const bool untyped = yes.untyped && no.untyped;
    const auto first = untyped ? without_locals(yes, type) : yes;
    const auto second = untyped ? without_locals(no, type) : no;
    return {make_conditional(condition.expression, first.expression, second.expression, at), home,
            first.untyped && second.untyped};
}

Term Terms::call(const char* function, std::initializer_list<Term> arguments, Type type, Position at)
{
    Term result;
    const bool untyped = std::ranges::all_of(arguments, &Term::untyped);
    const auto* known = find_function(function);
    const bool takes_any = known != nullptr && known->result.has_value();
    result.untyped = untyped && !takes_any;
    std::vector<Expression> expressions;
    for (const auto& argument : arguments) {
        result.home = join(result.home, argument.home, at);
        const auto inner = !untyped    ? argument
                           : takes_any ? stated(argument, type)
                                       : without_locals(argument, type);
        result.untyped = result.untyped && inner.untyped;
        expressions.push_back(inner.expression);
    }
    result.expression = make_call(function, std::move(expressions), at);
    return result;
}

Term Terms::gather(const Term& table, const Term& index, Position at)
{
    if (!table.expression.has_value())
        refuse_moved("table", at);
    const auto home = join(table.home, index.home, at);
    return {make_gather(table.expression->name, index.expression, at), home, false};
}

Term Terms::convert(Type to, const Term& argument, Type from, Position at)
{
    const auto inner = from == to ? argument : stated(argument, from);
    return {make_convert(to, inner.expression, at), argument.home, false};
}

}  // namespace segfold
