#include "dsl/rewrite/short_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

/// Rewrites an expression of finish or scan so that fields have their old type again. Only limits and
/// conversions keep their types; check() finds the other types again.
Expression lengthen(const Expression& expression, const FieldNames& fields,
                    const std::set<std::string>& limits)
{
    if (expression->kind == ExpressionKind::field && fields.contains(expression->name)) {
        const auto field = make_field(expression->operand, expression->name);
        auto whole = make_convert(Type::i64, field);
        for (const auto& limit : limits)
            whole = make_conditional(make_binary("==", field, make_limit(limit, Type::i32)),
                                     make_limit(limit, Type::i64), whole);
        return whole;
    }
    ExpressionNode node = *expression;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type = std::nullopt;
    for (auto& argument : node.arguments)
        argument = lengthen(argument, fields, limits);
    return Expression(std::move(node));
}

}  // namespace

bool is_comparison(const Expression& expression)
{
    constexpr std::array<std::string_view, 6> kSymbols = {"==", "!=", "<", "<=", ">", ">="};
    return expression->kind == ExpressionKind::binary &&
           std::ranges::find(kSymbols, expression->symbol) != kSymbols.end();
}

bool is_selection(const Expression& expression)
{
    return expression->kind == ExpressionKind::call &&
           (expression->name == "min" || expression->name == "max");
}

std::vector<const Block*> state_blocks(const Operator& op)
{
    std::vector<const Block*> blocks = {&op.lift, &op.combine};
    if (op.append)
        blocks.push_back(&*op.append);
    return blocks;
}

void lengthen_reads(Operator& op, const FieldNames& fields, const std::set<std::string>& limits)
{
    const auto lengthen_all = [&](Block& block) {
        for (auto& let : block.lets)
            let.value = lengthen(let.value, fields, limits);
        for (auto& assignment : block.assignments)
            assignment.value = lengthen(assignment.value, fields, limits);
    };
    if (!op.finish)
        op.finish = copied_state(op);
    lengthen_all(*op.finish);
    if (op.scan)
        lengthen_all(op.scan->block);
}

}  // namespace segfold
