#include "dsl/derived.h"

#include <map>
#include <utility>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

/// Replaces fields of the state by fields of `operand`, and each name by its expression in `names`. Only
/// limits and conversions keep their types; check() finds the others again.
Expression replaced(const Expression& expression, Operand operand,
                    const std::map<std::string, Expression>& names)
{
    if (expression->kind == ExpressionKind::field)
        return make_field(operand, expression->name, expression->position);
    if (expression->kind == ExpressionKind::name)
        if (const auto found = names.find(expression->name); found != names.end())
            return found->second;
    ExpressionNode node = *expression;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type.reset();
    for (auto& argument : node.arguments)
        argument = replaced(argument, operand, names);
    return Expression(std::move(node));
}

/// Adds a field that counts the elements of a state. Returns the field's name.
std::string add_count(Operator& op)
{
    const auto name = unused_name(op, "count");
    const auto of = [&](Operand operand) { return make_field(operand, name); };
    op.state.push_back(
        {name, Type::i64, op.has_identity() ? std::optional(Expression(0)) : std::nullopt, {}});
    op.lift.assignments.push_back({name, Expression(1), {}});
    op.combine.assignments.push_back({name, make_binary("+", of(Operand::earlier), of(Operand::later)), {}});
    if (op.append)
        op.append->assignments.push_back({name, make_binary("+", of(Operand::earlier), Expression(1)), {}});
    op.laws.idempotent = false;
    op.factors.reset();
    return name;
}

/// Turns the results of `finish` or `empty` into assignments for a scan. Adds the locals of `block` to the
/// scan under new names.
std::vector<Assignment> moved(Operator& op, const Block& block, Operand operand,
                              std::map<std::string, Expression> names)
{
    auto& scan = op.scan->block;
    for (const auto& let : block.lets) {
        const auto name = unused_name(op, let.name);
        scan.lets.push_back({name, replaced(let.value, operand, names), let.position});
        names.insert_or_assign(let.name, make_name(name, let.position));
    }
    auto assignments = block.assignments;
    for (auto& assignment : assignments)
        assignment.value = replaced(assignment.value, operand, names);
    return assignments;
}

void refuse(const Operator& op, ScanForm form)
{
    if (op.scan && form.exclusive)
        throw InputError("operator " + op.name +
                         " has a scan of its own, which says what each element gets, so it cannot be made "
                         "exclusive; its scan may read '" +
                         op.scan->before + "', the state without the element");
    if (op.map && !op.scan)
        throw InputError(
            "operator " + op.name +
            " has a map, which needs the results of whole segments; only without the map it can be "
            "scanned");
    if (form.exclusive && !op.allows_empty())
        throw InputError("operator " + op.name +
                         " has no identity, so that an exclusive scan has no result for the first element of "
                         "a segment; " +
                         advice_on_empty_segments(op));
}

}  // namespace

Operator scanned(Operator op, ScanForm form)
{
    refuse(op, form);
    if (op.scan) {
        op.scan->reverse = op.scan->reverse != form.reverse;
        return op;
    }
    // In two cases the state needs a field that tells whether it has elements. Without an identity, there is
    // no state before the first visited element. If `empty` gives the result of this element, a reverse scan
    // must recognise the element without knowing its position.
    std::string any;
    if (form.exclusive && (!op.has_identity() || (op.empty && form.reverse)))
        op = with_neutral_identity(std::move(op), any);
    const bool counts = form.reverse && op.finish && uses_name(*op.finish, "length");
    const auto finish = op.finish ? *op.finish : copied_state(op);
    const auto count = counts ? add_count(op) : "";
    op.scan = {unused_name(op, "before"), unused_name(op, "through"), form.reverse, {}};
    op.finish.reset();
    const auto empty = std::exchange(op.empty, std::nullopt);

    const auto operand = form.exclusive ? Operand::earlier : Operand::later;
    const auto position = make_name("position");
    const auto length = counts           ? make_field(operand, count)
                        : form.exclusive ? position
                                         : make_binary("+", position, Expression(1));
    auto values = moved(op, finish, operand, {{"length", length}});
    if (form.exclusive && empty) {
        const auto none = moved(op, *empty, operand, {{"length", make_convert(Type::i64, Expression(0))}});
        const auto is_first = any.empty() ? make_binary("==", position, Expression(0))
                                          : make_unary("!", make_field(operand, any));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i].value = make_conditional(is_first, none[i].value, values[i].value);
    }
    op.scan->block.assignments = std::move(values);
    op.outputs = std::exchange(op.results, {});
    for (const auto& field : op.state)
        op.results.push_back({field.name, field.type, {}});
    op.keeps_results = false;
    return check(std::move(op));
}

}  // namespace segfold
