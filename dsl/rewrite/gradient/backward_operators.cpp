// Builds the operators that make up a backward.
#include <algorithm>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/rewrite/gradient/backward.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

std::string fitting_name(const std::string& name, const std::string& suffix)
{
    return name.substr(0, kLongestName - std::min(kLongestName / 2, suffix.size())) +
           suffix.substr(0, kLongestName / 2);
}

}  // namespace

void Backward::give_a_state(Operator& op)
{
    if (!op.state.empty())
        return;
    const auto nothing = unused_name(op, "nothing");
    const auto of = [&](Operand operand) { return make_field(operand, nothing); };
    op.state = {{nothing, Type::boolean, Expression(false), {}}};
    op.results = {{nothing, Type::boolean, {}}};
    op.lift = {{}, {{nothing, Expression(false), {}}}, {}};
    op.combine = {{}, {{nothing, make_binary("||", of(Operand::earlier), of(Operand::later)), {}}}, {}};
    op.append.reset();
    op.laws = {true, true};
}

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
    if (op.scan)
        taken.merge(std::set{op.scan->before, op.scan->through});
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

}  // namespace segfold
