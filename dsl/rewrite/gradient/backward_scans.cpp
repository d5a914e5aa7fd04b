// Gradients by scans. A reverse scan gives the state after each element; another scan gives the state before
// it.
#include <algorithm>

#include "dsl/check/check.h"
#include "dsl/rewrite/gradient/backward.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

std::set<std::string> fields_in(const Expression& term, Operand operand)
{
    std::set<std::string> found;
    (void)any_subterm(term, [&](const ExpressionNode& node) {
        if (node.kind == ExpressionKind::field && node.operand == operand)
            found.insert(node.name);
        return false;
    });
    return found;
}

bool is_infinite(const Expression& identity)
{
    if (identity->kind == ExpressionKind::unary)
        return is_infinite(identity.argument(0));
    return identity->name == "inf" || identity->name == "lowest" || identity->name == "highest";
}

}  // namespace

Backward::Values Backward::states_before(TermGraph& terms, const std::string& prefix) const
{
    Values found;
    std::set<std::string> made;
    for (const auto& field : op_.state)
        found[field.name] = terms.name(unused_name(op_, prefix + field.name, made), field.type);
    return found;
}

std::set<std::string> Backward::fields_behind_counted() const
{
    return fields_behind(op_, fields_that_count());
}

bool Backward::computes_with_infinity(const Expression& term, const Values& state) const
{
    std::set<const ExpressionNode*> infinite;
    for (const auto& name : fields_behind_counted()) {
        const auto& field = *std::ranges::find(op_.state, name, &StateField::name);
        if (is_float(field.type) && field.identity && is_infinite(*field.identity))
            infinite.insert(&*state.at(name));
    }
    return any_subterm(term, [&](const ExpressionNode& node) {
        const bool multiplies =
            node.kind == ExpressionKind::binary && (node.symbol == "*" || node.symbol == "/");
        return multiplies && std::ranges::any_of(node.arguments, [&](const Expression& argument) {
                   return any_subterm(argument,
                                      [&](const ExpressionNode& part) { return infinite.contains(&part); });
               });
    });
}

/// If one operand is the identity, combine returns the other operand. Its derivative, however, might compute
/// 0 * infinity or infinity / infinity.
Backward::Values Backward::combined_unless_identity(TermGraph& terms, const Values& earlier,
                                                    const Values& later, bool is_earlier) const
{
    const auto &state = is_earlier ? earlier : later, &other = is_earlier ? later : earlier;
    const auto behind = fields_behind_counted();
    auto is_identity = terms.number(1, Type::boolean);
    for (const auto& field : op_.state)
        if (behind.contains(field.name)) {
            const auto identity = terms.term(field.identity.value(), {});
            const auto& value = state.at(field.name);
            const auto equal = field.type != Type::boolean      ? terms.binary("==", value, identity)
                               : literal_value(identity) == 1.0 ? value
                                                                : terms.unary("!", value);
            is_identity = terms.binary("&&", is_identity, equal);
        }
    auto found = combined(terms, earlier, later);
    for (const auto& field : behind)
        found[field] = terms.select(is_identity, other.at(field), found.at(field));
    return found;
}

std::optional<Operator> Backward::prefixes_operator(const Values& before,
                                                    const std::vector<Expression>& terms, bool reverse) const
{
    std::set<std::string> read;
    Scan scan{"", "", reverse, {}};
    std::vector<ResultField> outputs;
    for (const auto& field : op_.state) {
        const auto& name = before.at(field.name)->name;
        if (std::ranges::none_of(terms, [&](const Expression& term) { return reads_name(term, name); }))
            continue;
        read.insert(field.name);
        scan.block.assignments.push_back({name, make_field(Operand::earlier, field.name), {}});
        outputs.push_back({name, field.type, {}});
    }
    if (read.empty())
        return std::nullopt;
    auto op = with_fields(op_, fields_behind(op_, read));
    op.keeps_results = false;
    op.outputs = std::move(outputs);
    scan.before = unused_name(op, "before");
    scan.through = unused_name(op, "through");
    op.scan = std::move(scan);
    return finished_operator(std::move(op), reverse ? "_suffixes" : "_prefixes",
                             std::string("States of the elements ") + (reverse ? "behind" : "before") +
                                 " each one, for the gradient of " + op_.name + ".");
}

void Backward::add_columns(Operator& op, const std::vector<ResultField>& columns) const
{
    for (const auto& column : columns)
        op.parameters.push_back({column.name, column.type, false, {}, false, given_.front().row});
}

Gradient Backward::two_scans() const
{
    // If results read the length, the state also counts its elements. Without an identity, the state also
    // tells whether it has any element.
    auto with_all = op_;
    const bool reads_length =
        (op_.finish && uses_name(*op_.finish, "length")) || (op_.map && uses_name(*op_.map, "length"));
    std::string count, any;
    if (!op_.finish)
        with_all.finish = copied_state(op_);
    if (reads_length) {
        count = unused_name(op_, "count");
        with_all.state.push_back(
            {count, Type::i64, op_.has_identity() ? std::optional(Expression(0)) : std::nullopt, {}});
        with_all.lift.assignments.push_back({count, Expression(1), {}});
        with_all.combine.assignments.push_back(
            {count,
             make_binary("+", make_field(Operand::earlier, count), make_field(Operand::later, count)),
             {}});
        with_all.append.reset();
        with_all.factors.reset();
        with_all = check(std::move(with_all));
    }
    if (!with_all.has_identity())
        with_all = with_neutral_identity(std::move(with_all), any);
    auto inner = *this;
    inner.op_ = with_all;

    TermGraph terms;
    const auto before = inner.states_before(terms, "prefix_");
    const auto element = inner.lifted(terms), behind = inner.fields(terms, Operand::earlier);
    const auto parts_with = [&](bool guards_before, bool guards_behind) {
        const auto through = guards_before ? inner.combined_unless_identity(terms, before, element, true)
                                           : inner.combined(terms, before, element);
        const auto total = guards_behind ? inner.combined_unless_identity(terms, through, behind, false)
                                         : inner.combined(terms, through, behind);
        auto by_element = derivative_by_element(terms);
        return inner.parts(terms, total, reads_length ? total.at(count) : terms.name("length", Type::i64),
                           by_element);
    };
    auto found = parts_with(false, false);
    const bool guards_before = inner.computes_with_infinity(found.gradient, before);
    const bool guards_behind = inner.computes_with_infinity(found.gradient, behind);
    if (guards_before || guards_behind)
        found = parts_with(guards_before, guards_behind);

    std::vector<Operator> operators;
    std::vector<Parameter> tables;
    if (!found.shares.empty()) {
        // The sums over segments read totals, so totals are computed first.
        TermGraph outer;
        const auto totals = inner.totals_by_name(outer);
        Derivative of_total(outer, wide_);
        for (const auto& field : fields_that_count())
            of_total.set(totals.at(field),
                         outer.name("d_" + field + "?", wide_));  // not known here, so terms do not cancel
        auto sums = inner.parts(outer, totals, outer.name("length", Type::i64), of_total).shares;
        std::set<std::string> read;
        bool has_length = false;
        for (const auto& share : sums) {
            read.merge(inner.totals_in(with_all, share.of_element));
            has_length = has_length || reads_name(share.of_element, "length");
        }
        auto fold = with_fields(op_, {});
        fold.keeps_results = true;
        if (!read.empty() || has_length) {
            operators.push_back(inner.totals_operator(with_all, read, has_length));
            for (const auto& field : operators.back().results)
                fold.parameters.push_back({field.name, field.type, true, {}, false, given_.front().row});
            for (auto& share : sums)
                share.of_element = from_tables(outer, operators.back(), share.of_element);
        }
        fold = with_shares(outer, std::move(fold), sums);
        fold.laws = {true, false};
        operators.push_back(
            finished_operator(std::move(fold), "_sums",
                              "Sums by which the gradient of " + op_.name + " depends on its outputs."));
        std::map<const ExpressionNode*, Expression> by;
        for (const auto& share : sums) {
            by[&*terms.name(share.name, wide_)] =
                terms.gather(share.name, terms.name("segment", Type::i64), wide_);
            tables.push_back({share.name, wide_, true, {}, false, given_.front().row});
        }
        found.gradient = terms.replaced(found.gradient, by);
    }

    const auto prefixes = inner.prefixes_operator(before, {found.gradient}, false);
    if (prefixes)
        operators.push_back(*prefixes);
    auto reverse =
        with_fields(with_all, fields_behind(with_all, fields_in(found.gradient, Operand::earlier)));
    give_a_state(reverse);
    if (prefixes)
        add_columns(reverse, prefixes->outputs);
    reverse.parameters.insert(reverse.parameters.end(), tables.begin(), tables.end());
    reverse.keeps_results = false;
    const auto output = output_of(terms);
    reverse.outputs = {output};
    reverse.scan = Scan{unused_name(reverse, "suffix"), unused_name(reverse, "through"), true, {}};
    reverse.scan->block = block(terms, reverse, {{output.name, terms.convert(output.type, found.gradient)}});
    add_last(operators, std::move(reverse));
    return gradient_of(prefixes ? "two scans" : "reverse scan", std::move(operators));
}

}  // namespace segfold
