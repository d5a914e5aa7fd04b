// The operators that make up a backward.
#include <algorithm>

#include "dsl/check/check.h"
#include "dsl/error.h"
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

/// Gives an operator of no fields one that nothing reads.
void give_a_state(Operator& op)
{
    if (!op.state.empty())
        return;
    const auto of = [](Operand operand) { return make_field(operand, "nothing"); };
    op.state = {{"nothing", Type::boolean, Expression(false), {}}};
    op.results = {{"nothing", Type::boolean, {}}};
    op.lift = {{}, {{"nothing", Expression(false), {}}}, {}};
    op.combine = {{}, {{"nothing", make_binary("||", of(Operand::earlier), of(Operand::later)), {}}}, {}};
    op.append.reset();
    op.laws = {true, true};
}

std::string fitting_name(const std::string& name, const std::string& suffix)
{
    return name.substr(0, kLongestName - std::min(kLongestName / 2, suffix.size())) +
           suffix.substr(0, kLongestName / 2);
}

}  // namespace

Block Backward::block(const TermGraph& terms, const Operator& op,
                      const std::vector<std::pair<std::string, Expression>>& values) const
{
    std::set<std::string> taken = {op.earlier, op.later, op_.earlier, op_.later}, rows;
    for (const auto* parameters : {&op.parameters, &given_})
        for (const auto& parameter : *parameters) {
            taken.insert(parameter.name);
            if (parameter.row && parameter.table)
                rows.insert(parameter.name);
        }
    for (const auto* fields : {&op.results, &op.outputs})
        for (const auto& field : *fields)
            taken.insert(field.name);
    for (const auto& field : op.state)
        taken.insert(field.name);
    for (const auto& let : op.lift.lets)
        taken.insert(let.name);
    taken.insert(result_);
    return terms.block(values, std::move(taken), rows);
}

std::set<std::string> Backward::totals_in(const Operator& folded, const Expression& term) const
{
    std::set<std::string> found;
    for (const auto& field : folded.state)
        if (reads_name(term, field.name))
            found.insert(field.name);
    return found;
}

Operator Backward::totals_operator(const Operator& folded, const std::set<std::string>& fields,
                                   bool has_length) const
{
    auto op = with_fields(folded, fields_behind(folded, fields));
    give_a_state(op);
    Block finish;
    std::vector<ResultField> results;
    for (const auto& field : op.results)
        if (fields.contains(field.name)) {
            finish.assignments.push_back({field.name, make_field(Operand::state, field.name), {}});
            results.push_back(field);
        }
    if (has_length) {
        finish.assignments.push_back({length_, make_name("length"), {}});
        results.push_back({length_, Type::i64, {}});
    }
    if (has_length || results.size() != op.state.size())
        op.finish = std::move(finish);
    op.results = std::move(results);
    if (!op.has_identity()) {
        op.empty.emplace();
        for (const auto& field : op.results)
            op.empty->assignments.push_back(
                {field.name, field.type == Type::boolean ? Expression(false) : Expression(0), {}});
    }
    return finished_operator(std::move(op), "_totals",
                             "What the gradient of " + op_.name + " reads of each segment.");
}

Expression Backward::from_tables(TermGraph& terms, const Operator& totals, const Expression& term) const
{
    std::map<const ExpressionNode*, Expression> by;
    const auto segment = terms.name("segment", Type::i64);
    for (const auto& field : totals.results)
        by[&*terms.name(field.name == length_ ? "length" : field.name, field.type)] =
            terms.gather(field.name, segment, field.type);
    return terms.replaced(term, by);
}

Operator Backward::with_shares(TermGraph& terms, Operator op, const std::vector<Share>& shares) const
{
    for (const auto& share : shares) {
        const auto value = block(terms, op, {{share.name, share.of_element}});
        const bool has_identity = op.state.empty() || op.has_identity();
        op.lift.lets.insert(op.lift.lets.end(), value.lets.begin(), value.lets.end());
        op.lift.assignments.push_back(value.assignments.front());
        op.state.push_back(
            {share.name, wide_, has_identity ? std::optional(Expression(0)) : std::nullopt, {}});
        op.results.push_back({share.name, wide_, {}});
        op.combine.assignments.push_back({share.name,
                                          make_binary("+", make_field(Operand::earlier, share.name),
                                                      make_field(Operand::later, share.name)),
                                          {}});
        op.append.reset();
        op.laws.idempotent = false;
    }
    return op;
}

Operator Backward::finished_operator(Operator op, const std::string& suffix,
                                     const std::string& description) const
{
    op.name = fitting_name(op_.name, suffix);
    op.description = description;
    op.source.reset();
    op.identity_word.clear();
    op.parameters.insert(op.parameters.end(), given_.begin(), given_.end());
    op = without_unread_parameters(std::move(op), kept_);
    try {
        return check(std::move(op));
    } catch (const SpecError& error) {
        throw InputError("operator " + op_.name + " has no gradient by '" + parameter_ +
                         "' here: " + error.what());
    }
}

ResultField Backward::output_of(TermGraph& terms) const
{
    return {is_summed_ ? unused_name(op_, "part_of_" + result_) : result_,
            is_summed_ ? wide_ : variable(terms)->type.value(),
            {}};
}

void Backward::add_last(std::vector<Operator>& operators, Operator op) const
{
    const auto title = "Gradient of " + op_.name + " by " + parameter_;
    const auto part = op.outputs.front();
    const auto suffix = "_gradient_" + parameter_;
    operators.push_back(finished_operator(std::move(op), is_summed_ ? suffix + "_parts" : suffix,
                                          title + (is_summed_ ? ", of each element." : ".")));
    if (!is_summed_)
        return;
    const auto& parameter = *std::ranges::find(op_.parameters, parameter_, &Parameter::name);
    Operator sums;
    sums.name = op_.name;
    sums.parameters = {{part.name, part.type, false, {}, false, given_.front().row}};
    sums.state = {{"sum", part.type, Expression(0), {}}};
    sums.lift = {{}, {{"sum", make_name(part.name), {}}}, {}};
    sums.combine = {
        {}, {{"sum", make_field(Operand::earlier, "sum") + make_field(Operand::later, "sum"), {}}}, {}};
    sums.results = {{result_, parameter.type, {}}};
    if (parameter.type != part.type)
        sums.finish = {
            {}, {{result_, make_convert(parameter.type, make_field(Operand::state, "sum")), {}}}, {}};
    sums.laws = {true, false};
    sums = finished_operator(std::move(sums), suffix, title + ", of each segment.");
    operators.push_back(std::move(sums));
}

Gradient Backward::gradient_of(std::string means, std::vector<Operator> operators) const
{
    Gradient found{std::move(means), parameter_, result_, {}, std::move(operators), {}};
    for (const auto& field : returned_fields(op_)) {
        if (!gradients_.contains(field.name))
            continue;
        const auto& name = gradients_.at(field.name);
        if (std::ranges::any_of(found.operators, [&](const Operator& op) {
                return std::ranges::find(op.parameters, name, &Parameter::name) != op.parameters.end();
            })) {
            found.of.push_back(field.name);
            found.names.push_back(name);
        }
    }
    return found;
}

Gradient Backward::by_map(TermGraph& terms, const Operator& folded, Parts parts, std::string means) const
{
    std::vector<Operator> operators;
    auto read = totals_in(folded, parts.gradient);
    std::set<std::string> read_early;
    bool has_length = false;
    for (const auto& share : parts.shares) {
        read_early.merge(totals_in(folded, share.of_element));
        has_length = has_length || reads_name(share.of_element, "length");
    }
    auto op = with_fields(folded, {});
    if (!read_early.empty() || has_length) {
        read.merge(read_early);
        operators.push_back(totals_operator(folded, read, has_length));
        const auto& totals = operators.back();
        for (const auto& field : totals.results)
            op.parameters.push_back({field.name, field.type, true, {}, false, given_.front().row});
        for (auto& share : parts.shares)
            share.of_element = from_tables(terms, totals, share.of_element);
        parts.gradient = from_tables(terms, totals, parts.gradient);
    } else {
        op = with_fields(folded, fields_behind(folded, read));
    }
    op = with_shares(terms, std::move(op), parts.shares);
    give_a_state(op);
    op.keeps_results = false;
    const auto output = output_of(terms);
    op.outputs = {output};
    op.map = block(terms, op, {{output.name, terms.convert(output.type, parts.gradient)}});
    if (!op.has_identity()) {
        op.empty.emplace();
        for (const auto& field : op.results)
            op.empty->assignments.push_back(
                {field.name, field.type == Type::boolean ? Expression(false) : Expression(0), {}});
    }
    add_last(operators, std::move(op));
    return gradient_of(std::move(means), std::move(operators));
}

Gradient Backward::two_scans() const
{
    // The state also tells the number of its elements if the results read it, and whether it has any if it
    // has no identity of its own.
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
    Values before;
    for (const auto& field : with_all.state)
        before[field.name] = terms.name(unused_name(op_, "prefix_" + field.name), field.type);
    const auto total = inner.combined(terms, inner.combined(terms, before, inner.lifted(terms)),
                                      inner.fields(terms, Operand::earlier));
    const auto length = reads_length ? total.at(count) : terms.name("length", Type::i64);
    auto by_element = derivative_by_element(terms);
    auto found = inner.parts(terms, total, length, by_element);

    std::vector<Operator> operators;
    std::vector<Parameter> tables;
    if (!found.shares.empty()) {
        // Shares are made of totals, which are folded first.
        TermGraph outer;
        const auto totals = inner.totals_by_name(outer);
        Derivative of_total(outer, wide_);
        for (const auto& field : fields_that_count())
            of_total.set(totals.at(field),
                         outer.name("d_" + field + "?", wide_));  // no name: nothing cancels
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

    auto forward = with_all;
    std::set<std::string> prefixes;
    Scan scan{unused_name(with_all, "before"), unused_name(with_all, "through"), false, {}};
    std::vector<ResultField> outputs;
    for (const auto& field : with_all.state)
        if (reads_name(found.gradient, before.at(field.name)->name)) {
            prefixes.insert(field.name);
            const auto& name = before.at(field.name)->name;
            scan.block.assignments.push_back({name, make_field(Operand::earlier, field.name), {}});
            outputs.push_back({name, field.type, {}});
        }
    if (!prefixes.empty()) {
        forward = with_fields(with_all, fields_behind(with_all, prefixes));
        forward.keeps_results = false;
        forward.scan = scan;
        forward.outputs = outputs;
        operators.push_back(finished_operator(
            std::move(forward), "_prefixes",
            "States of the elements before each one, for the gradient of " + op_.name + "."));
    }
    auto reverse =
        with_fields(with_all, fields_behind(with_all, fields_in(found.gradient, Operand::earlier)));
    give_a_state(reverse);
    for (const auto& output : outputs)
        reverse.parameters.push_back({output.name, output.type, false, {}, false, given_.front().row});
    reverse.parameters.insert(reverse.parameters.end(), tables.begin(), tables.end());
    reverse.keeps_results = false;
    const auto output = output_of(terms);
    reverse.outputs = {output};
    reverse.scan = Scan{unused_name(reverse, "suffix"), unused_name(reverse, "through"), true, {}};
    reverse.scan->block = block(terms, reverse, {{output.name, terms.convert(output.type, found.gradient)}});
    add_last(operators, std::move(reverse));
    return gradient_of(prefixes.empty() ? "reverse scan" : "two scans", std::move(operators));
}

}  // namespace segfold
