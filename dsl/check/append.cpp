#include "dsl/check/append.h"

#include <algorithm>
#include <map>
#include <set>

namespace segfold {
namespace {

using Names = std::map<std::string, std::string>;

/// Copies an expression of combine with new names for its locals. Replaces fields of the later state by the
/// locals in `lifted`.
Expression renamed(const Expression& expression, const Names& locals, const Names& lifted)
{
    ExpressionNode node = *expression;
    for (auto& argument : node.arguments)
        argument = renamed(argument, locals, lifted);
    if (node.kind == ExpressionKind::field && node.operand == Operand::later)
        return with_type(make_name(lifted.at(node.name), node.position), {}, *node.type);
    if (node.kind == ExpressionKind::name)
        if (const auto local = locals.find(node.name); local != locals.end())
            node.name = local->second;
    return Expression(std::move(node));
}

bool reads_table(const Expression& expression, const Operator& op)
{
    const bool reads = expression->kind == ExpressionKind::gather &&
                       std::ranges::any_of(op.parameters, [&](const Parameter& parameter) {
                           return parameter.table && !parameter.scalar && parameter.name == expression->name;
                       });
    return reads || std::ranges::any_of(expression->arguments,
                                        [&](const Expression& e) { return reads_table(e, op); });
}

}  // namespace

Block joined_lift(const Operator& op)
{
    std::set<std::string> taken = {op.earlier};
    for (const auto& parameter : op.parameters)
        taken.insert(parameter.name);
    for (const auto& field : op.state)
        taken.insert(field.name);
    const auto free_name = [&](std::string name) {
        while (!taken.insert(name).second)
            name += "_";
        return name;
    };
    for (const auto& let : op.lift.lets)
        taken.insert(let.name);
    Block block;
    block.lets = op.lift.lets;
    Names lifted, locals;
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        const auto& field = op.state[i];
        lifted[field.name] = free_name("lifted_" + field.name);
        // A value may be a bare number, which has no type. The conversion gives the number the field's type.
        block.lets.push_back({lifted[field.name],
                              with_type(make_convert(field.type, op.lift.assignments[i].value),
                                        {op.lift.assignments[i].value}, field.type),
                              {}});
    }
    for (const auto& let : op.combine.lets) {
        auto value = renamed(let.value, locals, lifted);
        locals[let.name] = free_name(let.name);
        block.lets.push_back({locals[let.name], std::move(value), {}});
    }
    for (const auto& assignment : op.combine.assignments)
        block.assignments.push_back({assignment.field, renamed(assignment.value, locals, lifted), {}});
    return block;
}

std::string read_by_append_alone(const Operator& op)
{
    std::vector<std::string> names = {"index", "position", "segment"};
    for (const auto& parameter : op.parameters)
        names.push_back(parameter.name);
    const auto found = std::ranges::find_if(names, [&](const std::string& name) {
        return uses_name(*op.append, name) && !uses_name(op.lift, name);
    });
    return found == names.end() ? "" : *found;
}

bool lift_reads_tables(const Operator& op)
{
    return std::ranges::any_of(op.lift.lets, [&](const Let& let) { return reads_table(let.value, op); }) ||
           std::ranges::any_of(op.lift.assignments,
                               [&](const Assignment& set) { return reads_table(set.value, op); });
}

}  // namespace segfold
