#include "runtime/scale/slices/slice_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "dsl/check/check.h"
#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/laws/laws.h"

namespace segfold {
namespace {

/// Returns the expression that replaces a name, or nothing if the name stays.
using Replace = std::function<std::optional<Expression>(const std::string& name)>;

Expression with_names(const Expression& expression, const Replace& replace)
{
    if (expression->kind == ExpressionKind::name)
        if (auto other = replace(expression->name))
            return *other;
    if (expression->arguments.empty())
        return expression;
    std::vector<Expression> arguments;
    for (const auto& argument : expression->arguments)
        arguments.push_back(with_names(argument, replace));
    return with_type(expression, std::move(arguments), *expression->type);
}

void replace_names(Block& block, const Replace& replace)
{
    for (auto& let : block.lets)
        let.value = with_names(let.value, replace);
    for (auto& assignment : block.assignments)
        assignment.value = with_names(assignment.value, replace);
}

/// A name that the operator does not use.
std::string free_name(const Operator& op, const std::string& wish)
{
    std::set<std::string> taken = {op.earlier, op.later};
    for (const auto& parameter : op.parameters)
        taken.insert(parameter.name);
    for (const auto& field : op.state)
        taken.insert(field.name);
    for (const auto& field : op.results)
        taken.insert(field.name);
    const auto add_lets = [&](const Block& block) {
        for (const auto& let : block.lets)
            taken.insert(let.name);
    };
    add_lets(op.lift);
    add_lets(op.combine);
    if (op.finish)
        add_lets(*op.finish);
    if (op.empty)
        add_lets(*op.empty);
    auto name = wish;
    for (int i = 2; taken.contains(name); ++i)
        name = wish + std::to_string(i);
    return name;
}

/// If lift uses `name`, adds a table to `part`, and `place(table)` as the name's replacement to `places`.
void add_base(PartOperator& part, std::map<std::string, Expression>& places, const char* name, BaseTable base,
              const std::function<Expression(const std::string& table)>& place)
{
    if (!uses_name(part.op.lift, name))
        return;
    const auto table = free_name(part.op, std::string("slice_") + name);
    part.op.parameters.push_back({table, Type::i64, true, {}});
    part.bases.push_back(base);
    places.emplace(name, place(table));
}

void replace_places(PartOperator& part, const std::map<std::string, Expression>& places)
{
    part.op.append.reset();  // append reads no table, so it cannot know the part's place
    replace_names(part.op.lift, [&](const std::string& name) -> std::optional<Expression> {
        const auto found = places.find(name);
        return found == places.end() ? std::nullopt : std::optional(found->second);
    });
}

/// Returns a function that makes the expression `name + table[0]`.
std::function<Expression(const std::string&)> behind_base(const std::string& name)
{
    return [name](const std::string& table) { return make_name(name) + make_gather(table, Expression(0)); };
}

/// Adds the segment's number to the state, because finish reads no table.
void carry_segment(PartOperator& part)
{
    auto& op = part.op;
    op.append.reset();
    const auto field = free_name(op, "slice_place");
    const bool is_monoid = op.has_identity();
    op.state.push_back(
        {field, Type::i64, is_monoid ? std::optional(lowest(Type::i64)) : std::nullopt, Position{}});
    op.lift.assignments.push_back({field, make_name("segment"), {}});
    op.combine.assignments.push_back(
        {field, call("max", {make_field(Operand::earlier, field), make_field(Operand::later, field)}), {}});
    replace_names(*op.finish, [&](const std::string& name) -> std::optional<Expression> {
        return name == "segment" ? std::optional(make_field(Operand::state, field)) : std::nullopt;
    });
}

}  // namespace

std::string reason_against_slices(const Operator& op)
{
    if (has_rows(op))
        return fmt::format("operator {} folds rows of features, which are not cut into slices", op.name);
    if (op.map)
        return fmt::format(
            "operator {} maps elements with their segment's results, which a segment that is cut has only "
            "when all its elements have been passed",
            op.name);
    if (op.scan)
        return fmt::format("operator {} has a scan, whose states do not pass from slice to slice", op.name);
    return {};
}

void require_slices(const Operator& op)
{
    if (const auto reason = reason_against_slices(op); !reason.empty())
        throw InputError(reason +
                         "; fold it in one piece: without --slices, --devices, --memory and other ranks");
}

void require_associative(const OperatorLaws& laws, const Operator& op, std::string_view what_divides)
{
    if (laws.usable.associative)
        return;
    const auto* finding = laws.report.find(Law::associative);
    throw InputError(fmt::format(
        "operator {} is not associative, so that segments which {} would have other results; fold it in one "
        "piece{}{}",
        op.name, what_divides, finding != nullptr ? "\n" : "",
        finding != nullptr ? print(*finding, op) : ""));
}

Operator state_operator(const Operator& op)
{
    if (!op.finish && !op.empty)
        return without_outputs(op);
    Operator derived = without_outputs(op);
    derived.finish.reset();
    derived.empty.reset();
    derived.results.clear();
    for (const auto& field : op.state)
        derived.results.push_back({field.name, field.type, {}});
    return check(std::move(derived));
}

PartOperator inner_operator(const Operator& op)
{
    PartOperator part{op};
    const bool finish_numbers = op.finish && uses_name(*op.finish, "segment");
    part.misnumbers_empties =
        op.allows_empty() && (op.empty ? uses_name(*op.empty, "segment") : finish_numbers);
    if (finish_numbers) {
        // The identity holds no segment's number, so empty segments need a result of their own.
        if (!part.op.empty && op.has_identity())
            part.op.empty = without_identity(op).empty;
        carry_segment(part);
    }
    std::map<std::string, Expression> places;
    add_base(part, places, "index", BaseTable::index, behind_base("index"));
    add_base(part, places, "segment", BaseTable::segment, behind_base("segment"));
    if (counts_alike(part))
        return part;
    replace_places(part, places);
    part.op = check(std::move(part.op));
    return part;
}

PartOperator piece_operator(const Operator& op)
{
    PartOperator part{state_operator(op)};
    std::map<std::string, Expression> places;
    add_base(part, places, "index", BaseTable::index, behind_base("index"));
    add_base(part, places, "segment", BaseTable::segment,
             [](const std::string& table) { return make_gather(table, make_name("segment")); });
    add_base(part, places, "position", BaseTable::position, [](const std::string& table) {
        return make_name("position") + make_gather(table, make_name("segment"));
    });
    if (counts_alike(part))
        return part;
    replace_places(part, places);
    part.op = check(std::move(part.op));
    return part;
}

bool counts_alike(const PartOperator& part) { return part.bases.empty(); }

}  // namespace segfold
