#include "dsl/rewrite/gradient/derivative.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "dsl/error.h"

namespace segfold {
namespace {

bool is_zero(const Expression& derivative)
{
    return !derivative.has_value() || literal_value(derivative) == 0.0;
}

Expression without_zero(const Expression& derivative)
{
    return is_zero(derivative) ? Expression() : derivative;
}

bool is_negation(const Expression& term)
{
    return term->kind == ExpressionKind::unary && term->symbol == "-";
}

/// True for a conditional with 0 on one side.
bool is_gated(const Expression& term)
{
    return term->kind == ExpressionKind::conditional &&
           (is_zero(term.argument(1)) || is_zero(term.argument(2)));
}

}  // namespace

void Derivative::add_terms(const Expression& derivative, bool is_negative,
                           std::vector<SignedTerm>& terms) const
{
    if (sums_.contains(&*derivative) && derivative->kind == ExpressionKind::binary) {
        add_terms(derivative.argument(0), is_negative, terms);
        add_terms(derivative.argument(1), is_negative != (derivative->symbol == "-"), terms);
    } else if (is_negation(derivative)) {
        add_terms(derivative.argument(0), !is_negative, terms);
    } else {
        terms.push_back({derivative, is_negative});
    }
}

Expression Derivative::value_or_zero(const Expression& derivative)
{
    return derivative.has_value() ? derivative : terms_.number(0, wide_);
}

Expression Derivative::negated(const Expression& derivative)
{
    if (is_zero(derivative))
        return {};
    if (is_gated(derivative))
        return chosen(derivative.argument(0), negated(derivative.argument(1)),
                      negated(derivative.argument(2)));
    return terms_.unary("-", derivative);
}

/// Adds two derivatives. Terms with opposite signs cancel, and numbers are added up.
Expression Derivative::sum(const Expression& left, const Expression& right)
{
    if (is_zero(left) || is_zero(right))
        return without_zero(is_zero(left) ? right : left);
    if (is_gated(left) && is_gated(right) && &*left.argument(0) == &*right.argument(0))
        return chosen(left.argument(0), sum(left.argument(1), right.argument(1)),
                      sum(left.argument(2), right.argument(2)));
    std::vector<SignedTerm> all, rest;
    // Sums of shared sums may have exponentially many terms. Sums with many terms are not taken apart.
    constexpr int kMostTerms = 32;
    const auto num_terms = [&](const Expression& term) {
        const auto found = sums_.find(&*(is_negation(term) ? term.argument(0) : term));
        return found == sums_.end() ? 1 : found->second;
    };
    const int num_all = std::min(num_terms(left) + num_terms(right), kMostTerms + 1);
    if (num_all <= kMostTerms) {
        add_terms(left, false, all);
        add_terms(right, false, all);
    } else {
        all = {{left, false}, {right, false}};
    }
    double number = 0;
    for (const auto& item : all) {
        if (const auto value = literal_value(item.term)) {
            number += item.is_negative ? -*value : *value;
            continue;
        }
        const auto opposite = std::ranges::find_if(rest, [&](const SignedTerm& other) {
            return &*other.term == &*item.term && other.is_negative != item.is_negative;
        });
        if (opposite == rest.end())
            rest.push_back(item);
        else
            rest.erase(opposite);
    }
    std::ranges::stable_partition(rest, [](const SignedTerm& item) { return !item.is_negative; });
    Expression found;
    if (number > 0 || rest.empty() || (number < 0 && rest.front().is_negative))
        found = number == 0 ? Expression() : terms_.number(number, wide_);
    const auto add = [&](const Expression& term, bool is_negative) {
        if (!found.has_value()) {
            found = is_negative ? terms_.unary("-", term) : term;
            return;
        }
        found = terms_.binary(is_negative ? "-" : "+", found, term);
        sums_.emplace(&*found, num_all);
    };
    for (const auto& item : rest)
        add(item.term, item.is_negative);
    if (number < 0 && !rest.empty() && !rest.front().is_negative)
        add(terms_.number(-number, wide_), true);
    return found;
}

Expression Derivative::product(const Expression& derivative, const Expression& factor)
{
    if (is_zero(derivative) || literal_value(factor) == 0.0)
        return {};
    if (is_gated(derivative))
        return chosen(derivative.argument(0), product(derivative.argument(1), factor),
                      product(derivative.argument(2), factor));
    if (is_gated(factor))  // the factor is a derivative too, by the chain rule
        return chosen(factor.argument(0), product(derivative, factor.argument(1)),
                      product(derivative, factor.argument(2)));
    if (is_negation(derivative))
        return negated(product(derivative.argument(0), factor));
    if (is_negation(factor))
        return negated(product(derivative, factor.argument(0)));
    const auto value = literal_value(derivative);
    if (value == 1.0)
        return factor;
    if (value == -1.0)
        return negated(factor);
    if (literal_value(factor) == -1.0)
        return negated(derivative);
    if (value && literal_value(factor))
        return terms_.number(*value * *literal_value(factor), wide_);
    const auto is_reciprocal = [](const Expression& term) {
        return term->kind == ExpressionKind::binary && term->symbol == "/" &&
               literal_value(term.argument(0)) == 1.0;
    };
    if (is_reciprocal(factor))
        return terms_.binary("/", derivative, factor.argument(1));
    if (factor->kind == ExpressionKind::binary && factor->symbol == "/" && is_reciprocal(factor.argument(0)))
        return quotient(product(derivative, factor.argument(0)), factor.argument(1));
    if (is_reciprocal(derivative))
        return terms_.binary("/", factor, derivative.argument(1));
    if (literal_value(factor))
        return terms_.binary("*", factor, derivative);
    return terms_.binary("*", derivative, factor);
}

Expression Derivative::quotient(const Expression& derivative, const Expression& divisor)
{
    if (is_zero(derivative))
        return {};
    if (is_gated(derivative))
        return chosen(derivative.argument(0), quotient(derivative.argument(1), divisor),
                      quotient(derivative.argument(2), divisor));
    if (is_negation(derivative))
        return negated(quotient(derivative.argument(0), divisor));
    return terms_.binary("/", derivative, divisor);
}

Expression Derivative::chosen(const Expression& condition, const Expression& yes, const Expression& no)
{
    if (is_zero(yes) && is_zero(no))
        return {};
    const auto left = terms_.assuming(value_or_zero(yes), condition, true);
    const auto right = terms_.assuming(value_or_zero(no), condition, false);
    if (is_zero(right) && is_gated(left) && is_zero(left.argument(2)))  // c ? (d ? x : 0) : 0
        return without_zero(
            terms_.select(terms_.binary("&&", condition, left.argument(0)), left.argument(1), right));
    if (is_zero(left) && is_gated(right) && is_zero(right.argument(1)))  // c ? 0 : (d ? 0 : x)
        return without_zero(
            terms_.select(terms_.binary("||", condition, right.argument(0)), left, right.argument(2)));
    return without_zero(terms_.select(condition, left, right));
}

Expression Derivative::of(const Expression& term)
{
    if (const auto found = known_.find(&*term); found != known_.end())
        return found->second;
    Expression found;
    if (is_float(*term->type))
        switch (term->kind) {
            case ExpressionKind::unary: found = negated(of(term.argument(0))); break;
            case ExpressionKind::binary: found = of_binary(term); break;
            case ExpressionKind::conditional: found = of_conditional(term); break;
            case ExpressionKind::call: found = of_call(term); break;
            case ExpressionKind::convert: found = of(term.argument(0)); break;
            default: break;  // numbers, tables, and names without a derivative
        }
    if (found.has_value())
        if (const auto name = terms_.hint_of(term); !name.empty())
            terms_.hint(found, "d_" + name);
    known_[&*term] = found;
    return found;
}

Expression Derivative::of_binary(const Expression& term)
{
    const auto left = term.argument(0), right = term.argument(1);
    const auto d_left = of(left), d_right = of(right);
    if (term->symbol == "+")
        return sum(d_left, d_right);
    if (term->symbol == "-")
        return sum(d_left, negated(d_right));
    if (term->symbol == "*" && &*left == &*right)
        return product(product(d_left, terms_.number(2, wide_)), widened(left));
    if (term->symbol == "*")
        return sum(product(d_left, widened(right)), product(d_right, widened(left)));
    if (!d_right.has_value())
        return quotient(d_left, widened(right));
    const auto whole = product(d_right, widened(term));
    return quotient(sum(d_left, negated(whole)), widened(right));
}

/// True if `elsewhere` equals `at_equal` once both sides of the equality `equal` are replaced by one number.
/// The conditional then serves only to save work where both sides are equal.
bool Derivative::continues(const Expression& equal, const Expression& at_equal, const Expression& elsewhere)
{
    TermGraph finite;
    finite.take_all_for_finite();
    const auto number = finite.name("number", *equal.argument(0)->type);
    const std::map<const ExpressionNode*, Expression> by = {{&*equal.argument(0), number},
                                                            {&*equal.argument(1), number}};
    return &*finite.replaced(at_equal, by) == &*finite.replaced(elsewhere, by);
}

Expression Derivative::of_conditional(const Expression& term)
{
    const auto condition = term.argument(0), yes = term.argument(1), no = term.argument(2);
    const auto d_yes = of(yes), d_no = of(no);
    if (condition->kind == ExpressionKind::binary && is_float(*condition.argument(0)->type)) {
        if (condition->symbol == "==" && continues(condition, yes, no))
            return d_no;
        if (condition->symbol == "!=" && continues(condition, no, yes))
            return d_yes;
    }
    return chosen(condition, d_yes, d_no);
}

Expression Derivative::of_call(const Expression& term)
{
    const auto& name = term->name;
    const auto number = [&](double value) { return terms_.number(value, wide_); };
    const auto binary = [&](const char* symbol, const Expression& left, const Expression& right) {
        return terms_.binary(symbol, left, right);
    };
    const auto x = term.argument(0);
    const auto d = of(x);
    const auto value = widened(term), wide = widened(x);
    const auto zero = terms_.number(0, *x->type);
    if (name == "min" || name == "max") {
        const auto y = term.argument(1);
        const auto d_y = of(y);
        const auto is_number = [](const Expression& of) {
            return literal_value(of) || (of->kind == ExpressionKind::constant && of->name == "inf");
        };
        if (is_number(y))
            return chosen(binary(name == "min" ? "<=" : ">=", x, y), d, d_y);
        if (is_number(x))  // false where y is NaN, since min and max then give x
            return chosen(binary(name == "min" ? "<" : ">", y, x), d_y, d);
        return chosen(binary("==", term, x), d, d_y);
    }
    if (name == "fma") {
        const auto y = term.argument(1);
        return sum(sum(product(d, widened(y)), product(of(y), wide)), of(term.argument(2)));
    }
    if (name == "pow") {
        const auto y = term.argument(1);
        const auto power = literal_value(y);
        const auto lower = power == 2.0 ? x
                           : power      ? terms_.call("pow", {x, terms_.number(*power - 1, *y->type)})
                                        : terms_.call("pow", {x, binary("-", y, terms_.number(1, *y->type))});
        auto by_base = power == 0.0 ? Expression() : product(d, binary("*", widened(y), widened(lower)));
        if (!power)
            by_base = chosen(binary("==", y, terms_.number(0, *y->type)), {}, by_base);
        const auto logarithm = terms_.call("log", {wide});
        return sum(by_base, chosen(binary("==", x, zero), {}, product(product(of(y), value), logarithm)));
    }
    if (is_zero(d) || name == "floor" || name == "ceil" || name == "round")
        return {};
    if (name == "abs")
        return chosen(binary(">", x, zero), d, chosen(binary("<", x, zero), negated(d), {}));
    if (name == "copysign")
        return chosen(binary("==", term, x), d, negated(d));
    if (name == "sqrt")
        return chosen(binary("==", x, zero), {}, quotient(d, binary("*", number(2), value)));
    if (name == "rsqrt")
        return negated(quotient(product(d, value), binary("*", number(2), wide)));
    if (name == "exp")
        return product(d, value);
    if (name == "exp2")
        return product(d, binary("*", number(std::numbers::ln2), value));
    if (name == "expm1")
        return product(d, terms_.call("exp", {wide}));
    if (name == "log")
        return quotient(d, wide);
    if (name == "log2")
        return quotient(d, binary("*", number(std::numbers::ln2), wide));
    if (name == "log1p")
        return quotient(d, binary("+", number(1), wide));
    if (name == "sin")
        return product(d, terms_.call("cos", {wide}));
    if (name == "cos")
        return negated(product(d, terms_.call("sin", {wide})));
    if (name == "tanh")
        return product(d, binary("-", number(1), binary("*", value, value)));
    throw InternalError("no derivative is known of the function " + name);
}

}  // namespace segfold
