// Gradients of running results. The backward of a scan is a scan in the other direction.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/rewrite/gradient/backward.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

using Entry = std::pair<std::string, std::string>;  ///< row and column of a matrix

/// Tells which matrix entries the backward of a scan must keep.
///
/// The gradient by the state before an element is an affine map of the gradient by the state through the
/// element. Such maps compose by multiplication of their matrices, which is associative. Entries that are 0
/// in all products are not kept. Diagonal entries that are 1 in all products are not kept either.
class Matrices {
public:
    Matrices(std::set<std::string> fields, std::map<Entry, Expression> of_element)
        : fields_(std::move(fields)), of_element_(std::move(of_element))
    {
        for (const auto& field : fields_)
            filled_.insert({field, field});  // the diagonal of the identity matrix
        for (const auto& entry : of_element_)
            filled_.insert(entry.first);
        for (const auto& by : fields_)
            for (const auto& row : fields_)
                for (const auto& column : fields_)
                    if (is_filled(row, by) && is_filled(by, column))
                        filled_.insert({row, column});
    }

    [[nodiscard]] const std::set<std::string>& fields() const { return fields_; }
    [[nodiscard]] bool is_filled(const std::string& row, const std::string& column) const
    {
        return filled_.contains({row, column});
    }
    [[nodiscard]] bool is_one(const std::string& row, const std::string& column) const
    {
        const auto entry = of_element_.find({row, column});
        return row == column && entry != of_element_.end() && literal_value(entry->second) == 1.0 &&
               std::ranges::none_of(fields_, [&](const std::string& by) {
                   return by != row && is_filled(row, by) && is_filled(by, row);
               });
    }
    [[nodiscard]] std::vector<Entry> kept() const
    {
        std::vector<Entry> found;
        for (const auto& entry : filled_)
            if (fields_.contains(entry.first) && fields_.contains(entry.second) &&
                !is_one(entry.first, entry.second))
                found.push_back(entry);
        return found;
    }
    /// Returns the entry for one element; none if it is 0.
    [[nodiscard]] Expression of_element(const Entry& entry) const
    {
        const auto found = of_element_.find(entry);
        return found == of_element_.end() ? Expression() : found->second;
    }
    void drop(const std::string& field) { fields_.erase(field); }

private:
    std::set<std::string> fields_;
    std::map<Entry, Expression> of_element_;
    std::set<Entry> filled_;
};

}  // namespace

/// The outputs at an element depend on the state B before the element and on the state T through it. T is the
/// next element's B. Let C be the gradient of all later outputs by T, u and w the gradients of the element's
/// own outputs by T and by B, and J = dT/dB. Then the gradient by B is w + J (u + C). For the element before,
/// this is C. The gradient by the element x is dT/dx (u + C), plus the gradient of outputs that read x
/// directly.
Gradient Backward::running() const
{
    const bool reverse = op_.scan->reverse;
    auto inner = *this;
    std::string any;
    if (!op_.has_identity())
        inner.op_ = with_neutral_identity(op_, any);
    const auto counted = inner.fields_that_count();

    TermGraph terms;
    Derivative d(terms, wide_);
    const auto element = inner.lifted(terms);
    const auto before = inner.states_before(terms, reverse ? "suffix_" : "prefix_");
    const auto by = [&](const Expression& variable) {
        Derivative found(terms, wide_);
        found.set(variable, found.one());
        return found;
    };
    // dT/dx by field, and J by a field of B and a field of T.
    Values through, of_element;
    std::map<Entry, Expression> jacobian;
    const auto derive = [&](bool guards) {
        const auto &earlier = reverse ? element : before, &later = reverse ? before : element;
        through = guards ? inner.combined_unless_identity(terms, earlier, later, !reverse)
                         : inner.combined(terms, earlier, later);
        auto by_element = derivative_by_element(terms);
        jacobian.clear();
        bool computes_with_infinity = false;
        const auto keep = [&](const Expression& derivative, Expression& in) {
            in = derivative;
            computes_with_infinity =
                computes_with_infinity || inner.computes_with_infinity(derivative, before);
        };
        for (const auto& field : counted) {
            if (const auto derivative = by_element.of(through.at(field)); derivative.has_value())
                keep(derivative, of_element[field]);
            for (const auto& other : counted)
                if (const auto derivative = by(before.at(other)).of(through.at(field));
                    derivative.has_value())
                    keep(derivative, jacobian[{other, field}]);
        }
        return computes_with_infinity;
    };
    if (derive(false))
        (void)derive(true);

    Values with;
    std::map<const ExpressionNode*, Expression> by_name;
    TermNames names;
    for (const auto& field : inner.op_.state) {
        const auto name = terms.name("through " + field.name, field.type);
        with[field.name] = name;
        by_name[&*name] = through.at(field.name);
        names.fields[{Operand::earlier, field.name}] = before.at(field.name);
        names.fields[{Operand::later, field.name}] = name;
    }
    const auto outputs = terms.values(inner.op_.scan->block, std::move(names));
    const auto of_outputs = [&](Derivative derivative) {
        const auto found = inner.of_outputs(terms, outputs, derivative);
        return found.has_value() ? terms.replaced(found, by_name) : found;
    };
    auto gradient = of_outputs(derivative_by_element(terms));
    Values own, carried;  // u, and w + J u, as explained above running()
    for (const auto& field : counted) {
        own[field] = of_outputs(by(with.at(field)));
        carried[field] = of_outputs(by(before.at(field)));
    }
    for (const auto& [entry, derivative] : jacobian)
        if (own.at(entry.second).has_value())
            carried[entry.first] = d.sum(carried[entry.first], d.product(own.at(entry.second), derivative));

    Matrices matrices(counted, jacobian);
    for (const auto& field : counted) {
        const auto reaches = [&](const std::string& other) {
            return matrices.is_filled(field, other) && carried.at(other).has_value();
        };
        const auto is_read_by = [&](const std::string& other) {
            return matrices.is_filled(other, field) && of_element.contains(other);
        };
        if (std::ranges::none_of(counted, reaches) || std::ranges::none_of(counted, is_read_by))
            matrices.drop(field);
    }
    constexpr std::size_t kMostKept = 16;
    const auto kept = matrices.kept();
    if (kept.size() + matrices.fields().size() > kMostKept)
        throw InputError(fmt::format(
            "operator {} has no gradient by '{}': its scan has outputs that depend on {} fields of the "
            "state, and these on each other; a gradient would keep {} numbers for each element, and {} is "
            "the most",
            op_.name, parameter_, matrices.fields().size(), kept.size() + matrices.fields().size(),
            kMostKept));

    std::set<std::string> made;
    Values carry;
    std::map<Entry, std::string> rates;
    auto last = with_fields(inner.op_, {});
    TermGraph joined;
    Derivative join(joined, wide_);
    const auto add = [&](const std::string& name, int identity) {
        last.state.push_back({name, wide_, Expression(identity), {}});
        last.results.push_back({name, wide_, {}});
        return name;
    };
    // The operand whose affine map is applied last, then the other operand.
    const auto outer = reverse ? Operand::later : Operand::earlier;
    const auto nested = reverse ? Operand::earlier : Operand::later;
    std::vector<std::pair<std::string, Expression>> lift, combine;
    const auto or_zero = [&](TermGraph& graph, const Expression& term) {
        return term.has_value() ? term : graph.number(0, wide_);
    };
    for (const auto& field : matrices.fields()) {
        carry[field] = terms.field(Operand::earlier, unused_name(inner.op_, "by_" + field, made), wide_);
        lift.emplace_back(add(carry[field]->name, 0), or_zero(terms, carried.at(field)));
    }
    for (const auto& [row, column] : kept) {
        rates[{row, column}] =
            unused_name(inner.op_, "rate_" + row + (row == column ? "" : "_by_" + column), made);
        lift.emplace_back(add(rates[{row, column}], row == column),
                          or_zero(terms, matrices.of_element({row, column})));
    }
    const auto rate = [&](Operand operand, const std::string& row, const std::string& column) {
        if (!matrices.is_filled(row, column))
            return Expression();
        return matrices.is_one(row, column) ? join.one()
                                            : joined.field(operand, rates.at({row, column}), wide_);
    };
    for (const auto& row : matrices.fields()) {
        auto sum = joined.field(outer, carry[row]->name, wide_);
        for (const auto& by_column : matrices.fields())
            if (const auto factor = rate(outer, row, by_column); factor.has_value())
                sum =
                    join.sum(sum, join.product(joined.field(nested, carry[by_column]->name, wide_), factor));
        combine.emplace_back(carry[row]->name, sum);
    }
    for (const auto& [row, column] : kept) {
        Expression sum;
        for (const auto& field : matrices.fields())
            if (const auto left = rate(outer, row, field), right = rate(nested, field, column);
                left.has_value() && right.has_value())
                sum = join.sum(sum, join.product(left, right));
        combine.emplace_back(rates.at({row, column}), or_zero(joined, sum));
    }

    for (const auto& [field, derivative] : of_element) {
        auto all = own.at(field);
        if (carry.contains(field))
            all = d.sum(all, carry.at(field));
        if (all.has_value())
            gradient = d.sum(gradient, d.product(all, derivative));
    }
    if (!gradient.has_value())
        throw_zero_gradient();

    std::vector<Operator> operators;
    std::vector<Expression> read = {gradient};
    for (const auto& set : lift)
        read.push_back(set.second);
    const auto prefixes = inner.prefixes_operator(before, read, reverse);
    if (prefixes) {
        operators.push_back(*prefixes);
        add_columns(last, prefixes->outputs);
    }
    give_a_state(last);
    last.keeps_results = false;
    const auto output = output_of(terms);
    last.outputs = {output};
    last.scan =
        Scan{unused_name(last, reverse ? "earlier" : "later"), unused_name(last, "through"), !reverse, {}};
    if (!lift.empty()) {
        last.lift = block(terms, last, lift);
        last.combine = block(joined, last, combine);
        last.append.reset();
        last.laws = {kept.empty(), false};
    }
    last.scan->block = block(terms, last, {{output.name, terms.convert(output.type, gradient)}});
    add_last(operators, std::move(last));
    return gradient_of(prefixes ? "two scans" : reverse ? "scan" : "reverse scan", std::move(operators));
}

Gradient Backward::sum(Gradient first, Gradient second) const
{
    if (is_summed_)
        throw InputError(
            "operator " + op_.name + " has no gradient by '" + parameter_ +
            "': its scan and its other results depend on it, and by a table or a scalar gradients "
            "are made of one of these");
    TermGraph terms;
    Operator op;
    const auto output = output_of(terms);
    const auto& row = given_.front().row;
    op.parameters = {{first.result, output.type, false, {}, false, row},
                     {second.result, output.type, false, {}, false, row}};
    op.outputs = {output};
    op.map = Block{{}, {{output.name, make_name(first.result) + make_name(second.result), {}}}, {}};
    give_a_state(op);
    op.keeps_results = false;
    auto operators = std::move(first.operators);
    std::ranges::move(second.operators, std::back_inserter(operators));
    add_last(operators, std::move(op));
    return gradient_of(second.means, std::move(operators));
}

}  // namespace segfold
