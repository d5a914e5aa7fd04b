#include "dsl/rewrite/gradient/term_graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "dsl/check/check.h"

namespace segfold {
namespace {

ExpressionNode term_node(ExpressionKind kind, std::vector<Expression> arguments, Type type)
{
    ExpressionNode node;
    node.kind = kind;
    node.arguments = std::move(arguments);
    node.type = type;
    return node;
}

bool is_literal_of(const Expression& term, double value) { return literal_value(term) == value; }

/// Returns a key that only equal nodes share. The arguments of the nodes must belong to one graph.
std::string key_of(const ExpressionNode& node)
{
    std::string key;
    const auto add = [&](std::uint64_t number) { key += std::to_string(number) + ' '; };
    add(static_cast<std::uint64_t>(node.kind));
    add(static_cast<std::uint64_t>(node.operand));
    add(node.negative ? 1 : 0);
    add(node.magnitude);
    add(std::bit_cast<std::uint64_t>(node.real));
    add(static_cast<std::uint64_t>(node.rest + 1));
    add(static_cast<std::uint64_t>(*node.type));
    for (const auto& argument : node.arguments)
        add(reinterpret_cast<std::uintptr_t>(&*argument));
    return key + node.name + ' ' + node.symbol;
}

}  // namespace

bool is_comparison(const std::string& symbol)
{
    return symbol == "==" || symbol == "!=" || symbol == "<" || symbol == "<=" || symbol == ">" ||
           symbol == ">=";
}

std::optional<double> literal_value(const Expression& term)
{
    if (term->kind == ExpressionKind::real)
        return term->real;
    if (term->kind == ExpressionKind::integer)
        return term->negative ? -static_cast<double>(term->magnitude) : static_cast<double>(term->magnitude);
    if (term->kind == ExpressionKind::boolean)
        return static_cast<double>(term->magnitude);
    return std::nullopt;
}

bool reads_name(const Expression& term, const std::string& name)
{
    return any_subterm(term, [&](const ExpressionNode& node) {
        return node.kind == ExpressionKind::name && node.name == name;
    });
}

Expression TermGraph::number(double value, Type type)
{
    if (type == Type::boolean)
        return keep(with_type(Expression(value != 0), {}, type).operator*());
    const bool is_whole =
        value == std::floor(value) && std::fabs(value) < 1e9 && (value != 0 || !std::signbit(value));
    return keep(
        *with_type(is_whole ? Expression(static_cast<std::int64_t>(value)) : Expression(value), {}, type));
}

Expression TermGraph::name(const std::string& name, Type type)
{
    return keep(*with_type(make_name(name), {}, type));
}

Expression TermGraph::field(Operand operand, const std::string& field, Type type)
{
    return keep(*with_type(make_field(operand, field), {}, type));
}

Expression TermGraph::limit(const std::string& name, Type type) { return keep(*make_limit(name, type)); }

Expression TermGraph::unary(const std::string& symbol, const Expression& argument)
{
    auto node = term_node(ExpressionKind::unary, {argument}, *argument->type);
    node.symbol = symbol;
    return simplified(std::move(node));
}

Expression TermGraph::binary(const std::string& symbol, const Expression& left, const Expression& right)
{
    auto node =
        term_node(ExpressionKind::binary, {left, right}, is_comparison(symbol) ? Type::boolean : *left->type);
    node.symbol = symbol;
    return simplified(std::move(node));
}

Expression TermGraph::call(const std::string& function, std::vector<Expression> arguments)
{
    const auto result = find_function(function)->result;
    const auto type = result ? *result : *arguments[0]->type;
    auto node = term_node(ExpressionKind::call, std::move(arguments), type);
    node.name = function;
    return simplified(std::move(node));
}

Expression TermGraph::convert(Type type, const Expression& argument)
{
    return simplified(term_node(ExpressionKind::convert, {argument}, type));
}

Expression TermGraph::select(const Expression& condition, const Expression& yes, const Expression& no)
{
    return simplified(term_node(ExpressionKind::conditional, {condition, yes, no}, *yes->type));
}

Expression TermGraph::gather(const std::string& table, const Expression& index, Type type)
{
    auto node = term_node(ExpressionKind::gather, {index}, type);
    node.name = table;
    return simplified(std::move(node));
}

Expression TermGraph::keep(ExpressionNode node)
{
    node.position = {};
    auto& kept = terms_[key_of(node)];
    if (!kept.has_value())
        kept = Expression(std::move(node));
    return kept;
}

bool TermGraph::is_never_above(const Expression& lesser, const Expression& greater) const
{
    return never_above_.contains({&*lesser, &*greater});
}

void TermGraph::state_order(const Expression& lesser, const Expression& greater)
{
    never_above_.insert({&*lesser, &*greater});
    no_nan_.insert(&*greater);
}

Expression TermGraph::simplified_unary(ExpressionNode node)
{
    const auto argument = node.arguments[0];
    if (argument->kind == ExpressionKind::unary && argument->symbol == node.symbol)
        return argument.argument(0);
    if (node.symbol == "!") {
        if (const auto value = literal_value(argument))
            return number(*value == 0 ? 1 : 0, Type::boolean);
        if (argument->kind == ExpressionKind::binary &&
            (argument->symbol == "==" || argument->symbol == "!="))
            return binary(argument->symbol == "==" ? "!=" : "==", argument.argument(0), argument.argument(1));
    }
    if (node.symbol == "-" && is_float(*node.type) && literal_value(argument) &&
        *literal_value(argument) != 0)
        return number(-*literal_value(argument), *node.type);
    return keep(std::move(node));
}

Expression TermGraph::simplified_comparison(ExpressionNode node)
{
    const auto left = node.arguments[0], right = node.arguments[1];
    const auto& symbol = node.symbol;
    const auto truth = [&](bool is_true) { return number(is_true ? 1 : 0, Type::boolean); };
    const auto l = literal_value(left), r = literal_value(right);
    const bool is_equality = symbol == "==" || symbol == "!=";
    if (l && r)
        return truth(symbol == "=="   ? *l == *r
                     : symbol == "!=" ? *l != *r
                     : symbol == "<"  ? *l < *r
                     : symbol == "<=" ? *l <= *r
                     : symbol == ">"  ? *l > *r
                                      : *l >= *r);
    if (&*left == &*right && (!is_float(*left->type) || finite_ || no_nan_.contains(&*left)))
        return truth(symbol == "==" || symbol == "<=" || symbol == ">=");
    if (is_equality && ((r == 0 && positive_.contains(&*left)) || (l == 0 && positive_.contains(&*right))))
        return truth(symbol == "!=");
    if (positive_.contains(&*left) && r && *r <= 0 && (symbol == ">" || symbol == ">=" || symbol == "<"))
        return truth(symbol != "<");
    if ((symbol == ">" && is_never_above(left, right)) || (symbol == "<" && is_never_above(right, left)))
        return truth(false);
    if ((symbol == "<=" && is_never_above(left, right)) || (symbol == ">=" && is_never_above(right, left)))
        return truth(true);
    // True for a difference x - y of known sign: x is never above y if `is_descending` is true, else y is
    // never above x. A comparison of such a difference with 0 has a known result.
    const auto is_difference = [&](const Expression& term, bool is_descending) {
        return term->kind == ExpressionKind::binary && term->symbol == "-" &&
               (is_descending ? is_never_above(term.argument(0), term.argument(1))
                              : is_never_above(term.argument(1), term.argument(0)));
    };
    if (r == 0 &&
        ((symbol == ">" && is_difference(left, true)) || (symbol == "<" && is_difference(left, false))))
        return truth(false);
    return keep(std::move(node));
}

Expression TermGraph::simplified_binary(ExpressionNode node)
{
    const auto left = node.arguments[0], right = node.arguments[1];
    const auto& symbol = node.symbol;
    if (is_comparison(symbol))
        return simplified_comparison(std::move(node));
    if (symbol == "&&" || symbol == "||") {
        const bool neutral = symbol == "&&";
        for (const auto& [one, other] : {std::pair(left, right), std::pair(right, left)})
            if (const auto value = literal_value(one))
                return (*value != 0) == neutral ? other : one;
        if (symbol == "||" && (positive_.contains(&*left) || positive_.contains(&*right)))
            return number(1, Type::boolean);
        return &*left == &*right ? left : keep(std::move(node));
    }
    if (*node.type == Type::boolean)
        return keep(std::move(node));
    if (symbol == "+" && is_literal_of(left, 0))
        return right;
    if ((symbol == "+" || symbol == "-") && is_literal_of(right, 0))
        return left;
    if (symbol == "-" && is_literal_of(left, 0) && is_float(*node.type))
        return unary("-", right);
    if (symbol == "+" && right->kind == ExpressionKind::unary && right->symbol == "-")
        return binary("-", left, right.argument(0));
    if (symbol == "-" && right->kind == ExpressionKind::unary && right->symbol == "-")
        return binary("+", left, right.argument(0));
    if (symbol == "*" && is_literal_of(left, 1))
        return right;
    if ((symbol == "*" || symbol == "/") && is_literal_of(right, 1))
        return left;
    if (finite_ && &*left == &*right && (symbol == "-" || symbol == "/"))
        return number(symbol == "-" ? 0 : 1, *node.type);
    return keep(std::move(node));
}

Expression TermGraph::simplified_call(ExpressionNode node)
{
    if (node.name == "min" || node.name == "max") {
        const auto left = node.arguments[0], right = node.arguments[1];
        const bool is_min = node.name == "min";
        if (&*left == &*right)
            return left;
        if (is_never_above(left, right))
            return is_min ? left : right;
        if (is_never_above(right, left))
            return is_min ? right : left;
        if (is_literal_of(right, 0) && left->kind == ExpressionKind::binary && left->symbol == "-") {
            if (is_never_above(left.argument(0), left.argument(1)))
                return is_min ? left : right;
            if (is_never_above(left.argument(1), left.argument(0)))
                return is_min ? right : left;
        }
    }
    if (finite_ && node.name == "exp" && is_literal_of(node.arguments[0], 0))
        return number(1, *node.type);
    return keep(std::move(node));
}

Expression TermGraph::simplified(ExpressionNode node)
{
    switch (node.kind) {
        case ExpressionKind::unary: return simplified_unary(std::move(node));
        case ExpressionKind::binary: return simplified_binary(std::move(node));
        case ExpressionKind::call: return simplified_call(std::move(node));
        case ExpressionKind::convert: {
            const auto& argument = node.arguments[0];
            if (*argument->type == *node.type)
                return argument;
            const auto value = literal_value(argument);
            if (value && is_float(*node.type) && *value == std::floor(*value) && std::fabs(*value) <= 256)
                return number(*value, *node.type);
            return keep(std::move(node));
        }
        case ExpressionKind::conditional: {
            const auto condition = node.arguments[0];
            if (const auto value = literal_value(condition))
                return node.arguments[*value != 0 ? 1 : 2];
            if (positive_.contains(&*condition))
                return node.arguments[1];
            if (&*node.arguments[1] == &*node.arguments[2])
                return node.arguments[1];
            if (condition->kind == ExpressionKind::unary)  // !c ? x : y
                return select(condition.argument(0), node.arguments[2], node.arguments[1]);
            return keep(std::move(node));
        }
        default: return keep(std::move(node));
    }
}

Expression TermGraph::term(const Expression& checked, const TermNames& names)
{
    if (checked->kind == ExpressionKind::name) {
        const auto found = names.names.find(checked->name);
        return found == names.names.end() ? name(checked->name, *checked->type) : found->second;
    }
    if (checked->kind == ExpressionKind::field)
        return names.fields.at({checked->operand, checked->name});
    ExpressionNode node = *checked;
    for (auto& argument : node.arguments)
        argument = term(argument, names);
    return simplified(std::move(node));
}

Expression TermGraph::replaced(const Expression& term, const std::map<const ExpressionNode*, Expression>& by,
                               bool may_be_of_another)
{
    std::map<const ExpressionNode*, Expression> known = by;
    const std::function<Expression(const Expression&)> of = [&](const Expression& old) {
        if (const auto found = known.find(&*old); found != known.end())
            return found->second;
        ExpressionNode node = *old;
        bool is_changed = may_be_of_another;
        for (auto& argument : node.arguments) {
            auto other = of(argument);
            is_changed = is_changed || &*other != &*argument;
            argument = std::move(other);
        }
        if (!is_changed)
            return known[&*old] = old;
        auto made = simplified(std::move(node));
        if (const auto hinted = hints_.find(&*old); hinted != hints_.end())
            hint(made, std::string(hinted->second));
        return known[&*old] = made;
    };
    return of(term);
}

Expression TermGraph::assuming(const Expression& term, const Expression& condition, bool is_true)
{
    std::map<const ExpressionNode*, Expression> by;
    const std::function<void(const Expression&, bool)> add = [&](const Expression& known, bool value) {
        by[&*known] = number(value ? 1 : 0, Type::boolean);
        if (known->kind == ExpressionKind::unary && known->symbol == "!")
            add(known.argument(0), !value);
        if (known->kind == ExpressionKind::binary && known->symbol == (value ? "&&" : "||"))
            for (const auto& argument : known->arguments)
                add(argument, value);
        if (known->kind == ExpressionKind::binary && (known->symbol == "==" || known->symbol == "!="))
            by[&*binary(known->symbol == "==" ? "!=" : "==", known.argument(0), known.argument(1))] =
                number(value ? 0 : 1, Type::boolean);
    };
    add(condition, is_true);
    return replaced(term, by, false);
}

}  // namespace segfold
