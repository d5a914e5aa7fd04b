#include "dsl/rewrite/gradient/backward.h"

#include <algorithm>
#include <ranges>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

bool has_f64(const Expression& expression)
{
    return any_subterm(expression, [](const ExpressionNode& node) { return node.type == Type::f64; });
}

bool has_f64(const Block& block)
{
    return std::ranges::any_of(block.lets, [](const Let& let) { return has_f64(let.value); }) ||
           std::ranges::any_of(block.assignments, [](const Assignment& set) { return has_f64(set.value); });
}

/// Returns the type of derivatives: f64 if a part or a parameter has f64, else f32.
Type type_of_derivatives(const Operator& op)
{
    bool found = has_f64(op.lift) || has_f64(op.combine);
    for (const auto* part : {&op.finish, &op.map})
        found = found || (*part && has_f64(**part));
    for (const auto& parameter : op.parameters)
        found = found || parameter.type == Type::f64;
    return found ? Type::f64 : Type::f32;
}

Expression segment_name(TermGraph& terms) { return terms.name("segment", Type::i64); }

/// Returns the name of a result among the terms of `map`. The blank keeps it apart from names of fields.
std::string name_of_result(const std::string& result) { return "result " + result; }

/// True if the term reads no floats. It may read integers, bools and literals.
bool is_of_counts(const Expression& term)
{
    return !any_subterm(term, [](const ExpressionNode& node) {
        return node.type && is_float(*node.type) &&
               (node.kind == ExpressionKind::name || node.kind == ExpressionKind::gather);
    });
}

/// Splits `joined` at `symbol` (&& or ||) and adds its parts to `conditions`.
void add_conditions(const Expression& joined, const char* symbol, std::vector<Expression>& conditions)
{
    if (joined->kind != ExpressionKind::binary || joined->symbol != symbol)
        return conditions.push_back(joined);
    for (const auto& argument : joined->arguments)
        add_conditions(argument, symbol, conditions);
}

/// True for a field that is computed as an integer of fewer than 32 bits. It may wrap in a segment of many
/// elements. Trials on few elements would not show this.
bool may_wrap(const StateField& field, const Expression& joined)
{
    return is_integer(field.type) && size_bytes(field.type) < 4 &&
           any_subterm(joined, [&](const ExpressionNode& node) {
               return node.kind == ExpressionKind::binary && is_integer(*node.type);
           });
}

/// True if the field adds 1 for each element in at least 32 bits. No segment is long enough to make this sum
/// wrap.
bool counts_exactly(const StateField& field, std::optional<double> number)
{
    return is_integer(field.type) && size_bytes(field.type) >= 4 && number == 1.0;
}

}  // namespace

Backward::Backward(Operator op, std::string parameter, const Operator* whole, const std::string& result)
    : op_(std::move(op)), parameter_(std::move(parameter))
{
    const auto named = with_own_field_names(whole == nullptr ? op_ : *whole);
    op_ = with_own_field_names(std::move(op_));
    is_summed_ = std::ranges::find(op_.parameters, parameter_, &Parameter::name)->table;
    const auto any_column = std::ranges::find(op_.parameters, false, &Parameter::table);
    kept_ = is_summed_ && any_column != op_.parameters.end() ? any_column->name : parameter_;
    wide_ = type_of_derivatives(op_);
    result_ = unused_name(named, result + parameter_);
    length_ = unused_name(op_, "num_elements");
    const bool has_rows = std::ranges::any_of(op_.parameters, &Parameter::row);
    std::set<std::string> made;
    const auto add = [&](const ResultField& field, bool is_table) {
        if (!is_float(field.type))
            return;
        const auto name = unused_name(named, "grad_" + field.name, made);
        gradients_[field.name] = name;
        given_.push_back({name, field.type, is_table, {}, false, has_rows});
    };
    if (named.keeps_results)
        for (const auto& field : named.results)
            add(field, true);
    for (const auto& field : named.outputs)
        add(field, false);
}

Expression Backward::variable(TermGraph& terms) const
{
    const auto& found = *std::ranges::find(op_.parameters, parameter_, &Parameter::name);
    if (!found.table)
        return terms.name(parameter_, found.type);
    return terms.term(first_read(op_, parameter_).value(), {});
}

Derivative Backward::derivative_by_element(TermGraph& terms) const
{
    Derivative found(terms, wide_);
    found.set(variable(terms), terms.number(1, wide_));
    return found;
}

Backward::Values Backward::lifted(TermGraph& terms) const { return terms.values(op_.lift, {}); }

Backward::Values Backward::combined(TermGraph& terms, const Values& earlier, const Values& later) const
{
    TermNames names;
    for (const auto& field : op_.state) {
        names.fields[{Operand::earlier, field.name}] = earlier.at(field.name);
        names.fields[{Operand::later, field.name}] = later.at(field.name);
    }
    return terms.values(op_.combine, std::move(names));
}

Backward::Values Backward::finished(TermGraph& terms, const Values& total, const Expression& length) const
{
    TermNames names;
    names.names["length"] = length;
    for (const auto& field : op_.state)
        names.fields[{Operand::state, field.name}] = total.at(field.name);
    return terms.values(op_.finish ? *op_.finish : copied_state(op_), std::move(names));
}

Backward::Values Backward::fields(TermGraph& terms, Operand operand) const
{
    Values found;
    for (const auto& field : op_.state)
        found[field.name] = terms.field(operand, field.name, field.type);
    return found;
}

Backward::Values Backward::totals_by_name(TermGraph& terms) const
{
    Values found;
    for (const auto& field : op_.state)
        found[field.name] = terms.name(field.name, field.type);
    return found;
}

std::set<std::string> Backward::fields_that_count() const
{
    TermGraph terms;
    const auto earlier = fields(terms, Operand::earlier), later = fields(terms, Operand::later);
    const auto joined = combined(terms, earlier, later);
    const auto total = totals_by_name(terms);
    auto results = finished(terms, total, terms.name("length", Type::i64));
    if (op_.scan) {  // then there is no map, and the operator returns no results
        TermNames names;
        for (const auto& field : op_.state) {
            names.fields[{Operand::earlier, field.name}] = total.at(field.name);
            names.fields[{Operand::later, field.name}] = total.at(field.name);
        }
        results = terms.values(op_.scan->block, std::move(names));
    }
    const auto depends = [&](const Expression& term, const Expression& on) {
        Derivative derivative(terms, wide_);
        derivative.set(on, derivative.one());
        return derivative.of(term).has_value();
    };
    std::set<std::string> active, relevant;
    auto by_element = derivative_by_element(terms);
    const auto elements = lifted(terms);
    for (const auto& field : op_.state) {
        if (by_element.of(elements.at(field.name)).has_value())
            active.insert(field.name);
        for (const auto& result : results)
            if (depends(result.second, total.at(field.name)))
                relevant.insert(field.name);
    }
    for (std::size_t before = 0; before != active.size() + relevant.size();) {
        before = active.size() + relevant.size();
        for (const auto& field : op_.state)
            for (const auto& other : op_.state)
                if (depends(joined.at(field.name), earlier.at(other.name)) ||
                    depends(joined.at(field.name), later.at(other.name))) {
                    if (active.contains(other.name))
                        active.insert(field.name);
                    if (relevant.contains(field.name))
                        relevant.insert(other.name);
                }
    }
    std::erase_if(active, [&](const std::string& field) { return !relevant.contains(field); });
    return active;
}

bool Backward::has_sums() const
{
    TermGraph terms;
    const auto earlier = fields(terms, Operand::earlier), later = fields(terms, Operand::later);
    const auto joined = combined(terms, earlier, later);
    return std::ranges::all_of(fields_that_count(), [&](const std::string& field) {
        const auto &a = earlier.at(field), &b = later.at(field);
        return &*joined.at(field) == &*terms.binary("+", a, b) ||
               &*joined.at(field) == &*terms.binary("+", b, a);
    });
}

/// Solves for the derivative D of the total T by an element. T is joined once more with the element: T' =
/// combine(T, L), where L is the element's state. T already contains the element. Both copies of the element
/// change T' equally, so dT'/dT * D = dT'/dL. If D depends on T and L alone, this equation is solved for D,
/// field by field. Otherwise the solution is wrong; a trial of the gradient detects this.
std::optional<Backward::Values> Backward::derivatives_by_total(TermGraph& terms,
                                                               const std::set<std::string>& without) const
{
    auto counted = fields_that_count();
    std::erase_if(counted, [&](const std::string& field) { return without.contains(field); });
    const auto element = lifted(terms);
    const auto total = totals_by_name(terms);
    const auto a = fields(terms, Operand::earlier), b = fields(terms, Operand::later);
    const auto joined = combined(terms, a, b);
    const auto behind = fields_behind(op_, counted);
    for (const auto& field : op_.state) {
        const auto &x = a.at(field.name), &y = b.at(field.name), &value = joined.at(field.name);
        if (behind.contains(field.name) && may_wrap(field, value))
            return std::nullopt;
        const auto is = [&](const Expression& one, const Expression& other) {
            return &*value == &*one || &*value == &*other;
        };
        // The total includes the element. For example, a maximum is never below the element's value.
        if (is(terms.call("max", {x, y}), terms.call("max", {y, x})))
            terms.state_order(element.at(field.name), total.at(field.name));
        if (is(terms.call("min", {x, y}), terms.call("min", {y, x})))
            terms.state_order(total.at(field.name), element.at(field.name));
        const auto lifted = literal_value(element.at(field.name));
        const bool is_count =
            counts_exactly(field, lifted) && is(terms.binary("+", x, y), terms.binary("+", y, x));
        const bool is_flag =
            field.type == Type::boolean && is(terms.binary("||", x, y), terms.binary("||", y, x));
        if (is_count || (is_flag && lifted == 1.0))
            terms.state_positive(total.at(field.name));
    }
    const auto after = combined(terms, total, element);
    auto by_element = derivative_by_element(terms);
    Values found;
    for (auto left = counted; !left.empty();) {
        const auto before = left.size();
        for (const auto& field : counted) {
            if (!left.contains(field))
                continue;
            Expression sum = by_element.of(after.at(field)), own;
            bool is_solved = true;
            for (const auto& other : counted) {
                Derivative by_total(terms, wide_);
                by_total.set(total.at(other), by_total.one());
                const auto factor = by_total.of(after.at(field));
                if (other == field)
                    own = factor;
                else if (factor.has_value() && left.contains(other))
                    is_solved = false;
                else if (factor.has_value() && found.at(other).has_value())
                    sum = by_total.sum(sum, by_total.negated(by_total.product(factor, found.at(other))));
            }
            if (!is_solved)
                continue;
            if (!own.has_value() || !is_of_counts(own))
                return std::nullopt;
            found[field] = literal_value(own) == 1.0 ? sum : by_element.quotient(sum, own);
            if (found[field].has_value())
                terms.hint(found[field], "d_" + field);
            left.erase(field);
        }
        if (left.size() == before)
            return std::nullopt;  // fields depend on each other in a cycle
    }
    return found;
}

std::optional<Backward::Values> Backward::derivatives_by_total() const
{
    TermGraph terms;
    return derivatives_by_total(terms, fields_chosen_apart());
}

bool Backward::is_of_element(const Expression& term) const
{
    return any_subterm(term, [&](const ExpressionNode& node) {
        if (node.kind != ExpressionKind::name)
            return false;
        const auto is_called = [&](const Parameter& parameter) {
            return parameter.name == node.name && !parameter.table;
        };
        return node.name == "index" || node.name == "position" ||
               std::ranges::any_of(op_.parameters, is_called) || std::ranges::any_of(given_, is_called);
    });
}

Backward::Factors Backward::split(TermGraph& terms, const Expression& term, KnownFactors& known) const
{
    if (const auto found = known.find(&*term); found != known.end())
        return found->second;
    return known[&*term] = split_once(terms, term, known);
}

Backward::Factors Backward::split_once(TermGraph& terms, const Expression& term, KnownFactors& known) const
{
    Derivative d(terms, wide_);
    if (!is_of_element(term))
        return {term, d.one()};
    if (term->kind == ExpressionKind::unary) {
        const auto [common, rest] = split(terms, term.argument(0), known);
        return {d.negated(common), rest};
    }
    if (term->kind == ExpressionKind::binary && (term->symbol == "*" || term->symbol == "/")) {
        const auto [common, rest] = split(terms, term.argument(0), known);
        const auto [other, other_rest] = split(terms, term.argument(1), known);
        return term->symbol == "*" ? std::pair(d.product(common, other), d.product(rest, other_rest))
                                   : std::pair(d.quotient(common, other), d.quotient(rest, other_rest));
    }
    if (term->kind == ExpressionKind::conditional)
        for (const bool is_yes : {true, false})
            if (literal_value(term.argument(is_yes ? 2 : 1)) == 0.0) {
                auto [common, rest] = split(terms, term.argument(is_yes ? 1 : 2), known);
                std::vector<Expression> conditions;
                add_conditions(term.argument(0), is_yes ? "&&" : "||", conditions);
                for (const auto& condition : conditions | std::views::reverse) {
                    auto& gated = is_of_element(condition) ? rest : common;
                    gated = d.chosen(condition, is_yes ? gated : Expression(), is_yes ? Expression() : gated);
                }
                return {common, rest};
            }
    return {d.one(), term};
}

Expression Backward::of_outputs(TermGraph& terms, const Values& outputs, Derivative& derivative) const
{
    Expression found;
    for (const auto& [output, value] : outputs)
        if (gradients_.contains(output)) {
            const auto given = terms.name(gradients_.at(output),
                                          std::ranges::find(op_.outputs, output, &ResultField::name)->type);
            found =
                derivative.sum(found, derivative.product(derivative.of(value), derivative.widened(given)));
        }
    return found;
}

Backward::Parts Backward::parts(TermGraph& terms, const Values& total, const Expression& length,
                                Derivative& of_total) const
{
    const auto results = finished(terms, total, length);
    TermNames names;
    std::map<const ExpressionNode*, Expression> by;
    names.names["length"] = length;
    for (const auto& field : op_.results) {
        names.names[field.name] = terms.name(name_of_result(field.name), field.type);
        by[&*names.names[field.name]] = results.at(field.name);
    }
    const auto outputs = op_.map ? terms.values(*op_.map, names) : Values();
    Parts parts;
    std::set<std::string> made;
    auto by_element = derivative_by_element(terms);
    if (const auto direct = of_outputs(terms, outputs, by_element); direct.has_value())
        parts.gradient = terms.replaced(direct, by);
    for (const auto& field : op_.results) {
        const auto of_result = of_total.of(results.at(field.name));
        if (!of_result.has_value())
            continue;
        Expression given;
        if (op_.keeps_results && gradients_.contains(field.name))
            given =
                of_total.widened(terms.gather(gradients_.at(field.name), segment_name(terms), field.type));
        Derivative by_result(terms, wide_);
        by_result.set(names.names.at(field.name), by_result.one());
        if (const auto share = of_outputs(terms, outputs, by_result); share.has_value()) {
            KnownFactors known;
            const auto [common, rest] = split(terms, share, known);
            parts.shares.push_back(
                {unused_name(op_, "sum_by_" + field.name, made), terms.replaced(rest, by)});
            given = of_total.sum(given, of_total.product(terms.name(parts.shares.back().name, wide_),
                                                         terms.replaced(common, by)));
        }
        if (given.has_value())
            parts.gradient = of_total.sum(parts.gradient, of_total.product(given, of_result));
    }
    if (!parts.gradient.has_value())
        throw_zero_gradient();
    return parts;
}

void Backward::throw_zero_gradient() const
{
    throw ZeroGradient(
        "operator " + op_.name + " has no gradient by '" + parameter_ +
        "': no result of floats changes with it but by steps, where it is compared or rounded");
}

Gradient Backward::totals() const
{
    TermGraph terms;
    const auto total = totals_by_name(terms);
    Derivative of_total(terms, wide_);
    const auto chosen = fields_chosen_apart();
    auto folded = op_;
    if (!chosen.empty())
        folded = with_places(terms, chosen, of_total).value();
    const auto derivatives = derivatives_by_total(terms, chosen).value();
    for (const auto& [field, derivative] : derivatives)
        of_total.set(total.at(field), derivative);
    auto found = parts(terms, total, terms.name("length", Type::i64), of_total);
    return by_map(terms, folded, std::move(found), has_sums() ? "sums" : "totals");
}

}  // namespace segfold
