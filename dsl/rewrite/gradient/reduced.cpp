#include "dsl/rewrite/gradient/reduced.h"

#include <algorithm>
#include <functional>
#include <map>

#include "dsl/check/check.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

using ChangeNode = std::function<void(ExpressionNode&)>;

Expression changed(const Expression& expression, const ChangeNode& change)
{
    ExpressionNode node = *expression;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type.reset();  // check() finds the type again
    change(node);
    for (auto& argument : node.arguments)
        argument = changed(argument, change);
    return Expression(std::move(node));
}

void change(Block& block, const ChangeNode& change)
{
    for (auto& let : block.lets)
        let.value = changed(let.value, change);
    for (auto& assignment : block.assignments)
        assignment.value = changed(assignment.value, change);
}

template <class Change>
void change_parts(Operator& op, const Change& change)
{
    change(op.lift);
    change(op.combine);
    for (auto* part : {&op.append, &op.finish, &op.empty, &op.map})
        if (*part)
            change(**part);
    if (op.scan)
        change(op.scan->block);
}

void collect(const Expression& expression, const ExpressionKind kind, std::set<std::string>& names)
{
    if (expression->kind == kind)
        names.insert(expression->name);
    for (const auto& argument : expression->arguments)
        collect(argument, kind, names);
}

/// Drops locals that neither assignments nor later locals read.
void drop_unread_locals(Block& block)
{
    std::set<std::string> read;
    for (const auto& assignment : block.assignments)
        collect(assignment.value, ExpressionKind::name, read);
    std::vector<Let> kept;
    for (auto let = block.lets.rbegin(); let != block.lets.rend(); ++let)
        if (read.contains(let->name)) {
            collect(let->value, ExpressionKind::name, read);
            kept.push_back(*let);
        }
    block.lets.assign(kept.rbegin(), kept.rend());
}

void keep_assignments(Block& block, const std::set<std::string>& fields)
{
    std::erase_if(block.assignments, [&](const Assignment& set) { return !fields.contains(set.field); });
    drop_unread_locals(block);
    if (block.lets.size() == 1 && block.assignments.size() == 1 &&
        block.assignments[0].value->kind == ExpressionKind::name &&
        block.assignments[0].value->name == block.lets[0].name) {  // let total = ...; n = total
        block.assignments[0].value = block.lets[0].value;
        block.lets.clear();
    }
}

void collect_reads(const Expression& expression, const std::string& table, std::vector<Expression>& reads)
{
    if (expression->kind == ExpressionKind::gather && expression->name == table)
        reads.push_back(expression);
    for (const auto& argument : expression->arguments)
        collect_reads(argument, table, reads);
}

/// Returns the expressions by which lift, map and scan read a table.
std::vector<Expression> reads_of(const Operator& op, const std::string& table)
{
    std::vector<Expression> found;
    for (const auto* block : {&op.lift, op.map ? &*op.map : nullptr, op.scan ? &op.scan->block : nullptr}) {
        if (block == nullptr)
            continue;
        for (const auto& let : block->lets)
            collect_reads(let.value, table, found);
        for (const auto& assignment : block->assignments)
            collect_reads(assignment.value, table, found);
    }
    return found;
}

std::set<std::string> fields_read(const Block& block)
{
    std::set<std::string> read;
    for (const auto& let : block.lets)
        collect(let.value, ExpressionKind::field, read);
    for (const auto& assignment : block.assignments)
        collect(assignment.value, ExpressionKind::field, read);
    return read;
}

}  // namespace

std::set<std::string> fields_behind(const Operator& op, std::set<std::string> fields)
{
    for (std::size_t before = 0; before != fields.size();) {
        before = fields.size();
        auto combine = op.combine;
        keep_assignments(combine, fields);
        fields.merge(fields_read(combine));
    }
    return fields;
}

Operator with_fields(Operator op, const std::set<std::string>& fields)
{
    std::erase_if(op.state, [&](const StateField& field) { return !fields.contains(field.name); });
    keep_assignments(op.lift, fields);
    keep_assignments(op.combine, fields);
    if (op.append) {
        keep_assignments(*op.append, fields);
        if (!std::ranges::includes(fields, fields_read(*op.append)))
            op.append.reset();
    }
    op = without_outputs(std::move(op));
    op.finish.reset();
    op.empty.reset();
    op.factors.reset();
    op.results.clear();
    for (const auto& field : op.state)
        op.results.push_back({field.name, field.type, {}});
    return op;
}

Operator without_unread_parameters(Operator op, const std::string& kept)
{
    std::erase_if(op.parameters, [&](const Parameter& parameter) {
        bool is_read = parameter.name == kept;
        change_parts(op, [&](const Block& block) { is_read = is_read || reads(block, parameter.name); });
        return !is_read;
    });
    return op;
}

Operator with_own_field_names(Operator op)
{
    std::map<std::string, std::string> names;
    for (auto& field : op.state)
        if (std::ranges::find(op.parameters, field.name, &Parameter::name) != op.parameters.end()) {
            const auto other = unused_name(op, field.name);
            if (!op.keeps_results && !op.finish)
                std::ranges::find(op.results, field.name, &ResultField::name)->name = other;
            names[field.name] = other;
            field.name = other;
        }
    if (names.empty())
        return op;
    const auto rename = [&](std::string& name) {
        if (const auto found = names.find(name); found != names.end())
            name = found->second;
    };
    change_parts(op, [&](Block& block) {
        change(block, [&](ExpressionNode& node) {
            if (node.kind == ExpressionKind::field)
                rename(node.name);
        });
    });
    for (auto* block : {&op.lift, &op.combine, op.append ? &*op.append : nullptr})
        if (block != nullptr)
            for (auto& assignment : block->assignments)
                rename(assignment.field);
    op.factors.reset();
    return check(std::move(op));
}

std::optional<Expression> first_read(const Operator& op, const std::string& table)
{
    const auto found = reads_of(op, table);
    return found.empty() ? std::nullopt : std::optional(found.front());
}

bool reads_several_entries(const Operator& op, const std::string& table)
{
    const auto found = reads_of(op, table);
    return std::ranges::any_of(found, [&](const Expression& read) { return !same(read, found.front()); });
}

Operator in_f64(Operator op)
{
    const auto widen = [](Type& type) { type = is_float(type) ? Type::f64 : type; };
    const ChangeNode widen_node = [&](ExpressionNode& node) {
        if (node.kind == ExpressionKind::limit || node.kind == ExpressionKind::convert)
            widen(*node.type);
    };
    for (auto& parameter : op.parameters)
        widen(parameter.type);
    for (auto& field : op.state) {
        widen(field.type);
        if (field.identity)
            field.identity = changed(*field.identity, widen_node);
    }
    for (auto* fields : {&op.results, &op.outputs})
        for (auto& field : *fields)
            widen(field.type);
    change_parts(op, [&](Block& block) { change(block, widen_node); });
    op.factors.reset();
    return check(std::move(op));
}

}  // namespace segfold
