#include "dsl/check/rows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace segfold {
namespace {

const Parameter* find_parameter(const Operator& op, const std::string& name)
{
    const auto found = std::ranges::find(op.parameters, name, &Parameter::name);
    return found == op.parameters.end() ? nullptr : &*found;
}

/// Names and fields that hold rows.
struct Rows {
    std::set<std::string> names;   ///< parameters, locals and results that hold rows
    std::set<std::string> fields;  ///< fields of the state that hold rows

    /// True if the value depends on a row, so that it differs between features (the numbers of a row).
    [[nodiscard]] bool has(const Operator& op, const Expression& expression) const
    {
        const auto& node = *expression;
        if (node.kind == ExpressionKind::name && names.contains(node.name))
            return true;
        if (node.kind == ExpressionKind::field && fields.contains(node.name))
            return true;
        if (node.kind == ExpressionKind::gather)
            if (const auto* table = find_parameter(op, node.name); table != nullptr && table->row)
                return true;
        return std::ranges::any_of(node.arguments, [&](const auto& argument) { return has(op, argument); });
    }

    /// Adds to `set` the fields that `block` sets to rows. Returns true if `set` has grown.
    bool follow(const Operator& op, const Block& block, std::set<std::string>& set)
    {
        const auto before = set.size();
        auto inside = *this;
        for (const auto& let : block.lets)
            if (inside.has(op, let.value))
                inside.names.insert(let.name);
        for (const auto& assignment : block.assignments)
            if (inside.has(op, assignment.value))
                set.insert(assignment.field);
        return set.size() != before;
    }
};

Rows rows_of(const Operator& op)
{
    Rows rows;
    for (const auto& parameter : op.parameters)
        if (parameter.row && !parameter.table)
            rows.names.insert(parameter.name);
    rows.follow(op, op.lift, rows.fields);
    while (rows.follow(op, op.combine, rows.fields)) {}
    return rows;
}

/// Reports each conditional read of a table of rows, and each read whose index depends on a row. Both are
/// faults, because a fold reads a row for all its features at once. `always` is false inside the sides of a
/// condition.
void find_read_faults(const Operator& op, const Rows& rows, const Expression& expression, bool always,
                      std::vector<RowFault>& faults)
{
    const auto& node = *expression;
    const auto* table = node.kind == ExpressionKind::gather ? find_parameter(op, node.name) : nullptr;
    if (table != nullptr && table->row && !always)
        faults.push_back({node.position, "a row of table '" + node.name + "' is read under a condition",
                          "read it before: let row = " + node.name + "[...]; and choose then"});
    if (table != nullptr && table->row && rows.has(op, node.arguments[0]))
        faults.push_back({node.position,
                          "the index of table '" + node.name +
                              "' depends on a row, and one index chooses a whole "
                              "row",
                          "make the index of columns of numbers"});
    const bool chooses =
        node.kind == ExpressionKind::conditional || node.symbol == "&&" || node.symbol == "||";
    for (std::size_t i = 0; i < node.arguments.size(); ++i)
        find_read_faults(op, rows, node.arguments[i], always && (i == 0 || !chooses), faults);
}

/// Replaces the names of locals in `expression` by their values in `lets`.
Expression without_lets(const Expression& expression, const std::map<std::string, Expression>& lets)
{
    if (expression->kind == ExpressionKind::name)
        if (const auto let = lets.find(expression->name); let != lets.end())
            return let->second;
    if (expression->arguments.empty())
        return expression;
    ExpressionNode node = *expression;
    for (auto& argument : node.arguments)
        argument = without_lets(argument, lets);
    return Expression(std::move(node));
}

}  // namespace

bool has_rows(const Operator& op) { return std::ranges::any_of(op.parameters, &Parameter::row); }

Operator of_one_feature(Operator op)
{
    for (auto& parameter : op.parameters)
        parameter.row = false;
    return op;
}

std::vector<RowFault> row_faults(const Operator& op)
{
    std::vector<RowFault> faults;
    if (!has_rows(op))
        return faults;
    auto rows = rows_of(op);
    const auto look_at = [&](const Block& block, Rows inside) {
        for (const auto& let : block.lets) {
            find_read_faults(op, inside, let.value, true, faults);
            if (inside.has(op, let.value))
                inside.names.insert(let.name);
        }
        for (const auto& assignment : block.assignments)
            find_read_faults(op, inside, assignment.value, true, faults);
    };
    look_at(op.lift, rows);
    std::set<std::string> results;
    if (op.finish)
        rows.follow(op, *op.finish, results);
    else
        for (std::size_t i = 0; i < op.results.size() && i < op.state.size(); ++i)
            if (rows.fields.contains(op.state[i].name))
                results.insert(op.results[i].name);
    const auto refuse_number = [&](const ResultField& field, const char* what) {
        faults.push_back(
            {field.position,
             std::string(what) + " '" + field.name +
                 "' does not depend on a row, so it is one number where others are rows",
             "numbers and rows are results of operators of their own: fold the number by another one"});
    };
    if (op.keeps_results)
        for (const auto& field : op.results)
            if (!results.contains(field.name))
                refuse_number(field, "the result");
    std::set<std::string> outputs;
    if (op.scan) {
        look_at(op.scan->block, rows);
        rows.follow(op, op.scan->block, outputs);
    }
    if (op.map) {
        auto mapped = rows;
        for (const auto& field : op.results)  // each result is stored as a row
            mapped.names.insert(field.name);
        look_at(*op.map, std::move(mapped));
        rows.names.insert(results.begin(), results.end());
        rows.follow(op, *op.map, outputs);
    }
    for (const auto& field : op.outputs)
        if (!outputs.contains(field.name))
            refuse_number(field, "the output");
    return faults;
}

RowOperator with_reads_as_columns(const Operator& op)
{
    RowOperator result{of_one_feature(op), {}, {}};
    std::set<std::string> taken;
    for (const auto& parameter : op.parameters)
        taken.insert(parameter.name);
    for (const auto& let : op.lift.lets)
        taken.insert(let.name);
    if (op.scan)
        for (const auto& let : op.scan->block.lets)
            taken.insert(let.name);
    if (op.map) {
        for (const auto& let : op.map->lets)
            taken.insert(let.name);
        for (const auto& field : op.results)
            taken.insert(field.name);
    }
    std::map<std::string, Expression> lets;
    std::vector<RowRead> all;               // reads of lift, then further reads of map and scan
    std::vector<RowRead>* reads = nullptr;  // reads of the part that is rewritten
    const std::function<Expression(const Expression&)> replace = [&](const Expression& expression) {
        const auto& node = *expression;
        if (node.kind == ExpressionKind::gather && find_parameter(op, node.name)->row) {
            const auto index = without_lets(node.arguments[0], lets);
            auto read = std::ranges::find_if(all, [&](const RowRead& known) {
                return known.table == node.name && same(known.index, index);
            });
            if (read == all.end()) {
                auto name = node.name + "_row";
                while (taken.contains(name))
                    name += "_";
                taken.insert(name);
                all.push_back({name, node.name, index});
                read = all.end() - 1;
            }
            if (std::ranges::find(*reads, read->column, &RowRead::column) == reads->end())
                reads->push_back(*read);
            return with_type(make_name(read->column, node.position), {}, *node.type);
        }
        ExpressionNode copy = node;
        for (auto& argument : copy.arguments)
            argument = replace(argument);
        return Expression(std::move(copy));
    };
    const auto rewrite = [&](Block& block, std::vector<RowRead>& of_block) {
        reads = &of_block;
        lets.clear();
        for (auto& let : block.lets) {
            lets.emplace(let.name, without_lets(let.value, lets));
            let.value = replace(let.value);
        }
        for (auto& assignment : block.assignments)
            assignment.value = replace(assignment.value);
    };
    rewrite(result.op.lift, result.reads);
    if (result.op.map)
        rewrite(*result.op.map, result.map_reads);
    if (result.op.scan)
        rewrite(result.op.scan->block, result.scan_reads);
    std::erase_if(result.op.parameters, [&](const Parameter& parameter) {
        const auto* original = find_parameter(op, parameter.name);
        return original->row && original->table;
    });
    for (const auto& read : all)
        result.op.parameters.push_back({read.column, find_parameter(op, read.table)->type, false, {}});
    return result;
}

}  // namespace segfold
