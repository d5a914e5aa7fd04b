#include "dsl/rewrite/neutral_identity.h"

#include <algorithm>

#include "dsl/check/check.h"

namespace segfold {
namespace {

bool has(const auto& items, const std::string& name)
{
    return std::ranges::any_of(items, [&](const auto& item) { return item.name == name; });
}

}  // namespace

Block copied_state(const Operator& op)
{
    Block finish;
    for (std::size_t i = 0; i < op.results.size(); ++i)
        finish.assignments.push_back({op.results[i].name, make_field(Operand::state, op.state[i].name), {}});
    return finish;
}

std::string unused_name(const Operator& op, const std::string& name)
{
    std::set<std::string> made;
    return unused_name(op, name, made);
}

std::string unused_name(const Operator& op, const std::string& wanted, std::set<std::string>& made)
{
    std::string name;
    const auto is_used = [&] {
        if (made.contains(name))
            return true;
        if (has(op.parameters, name) || has(op.state, name) || has(op.results, name) ||
            has(op.outputs, name) || name == op.earlier || name == op.later || is_taken(name) ||
            (op.scan && (name == op.scan->before || name == op.scan->through)))
            return true;
        const auto has_let = [&](const auto* block) { return block != nullptr && has(block->lets, name); };
        const auto of = [](const std::optional<Block>& block) { return block ? &*block : nullptr; };
        return has_let(&op.lift) || has_let(&op.combine) || has_let(of(op.append)) ||
               has_let(of(op.finish)) || has_let(of(op.empty)) || has_let(of(op.map)) ||
               has_let(op.scan ? &op.scan->block : nullptr);
    };
    std::string ending;
    do {
        name = wanted.substr(0, kLongestName - ending.size()) + ending;
        ending += "_";
    } while (is_used());
    made.insert(name);
    return name;
}

Operator with_neutral_identity(Operator op, std::string& field)
{
    field = unused_name(op, "any");
    const auto of = [&](Operand operand, const std::string& name) { return make_field(operand, name); };
    if (!op.finish && op.keeps_results)
        op.finish = copied_state(op);
    if (!op.keeps_results && !op.finish)
        op.results.push_back({field, Type::boolean, {}});  // without finish, the result is the state
    for (auto& known : op.state)
        if (!known.identity)
            known.identity = known.type == Type::boolean ? Expression(false) : Expression(0);
    for (auto& set : op.combine.assignments)
        set.value =
            make_conditional(make_unary("!", of(Operand::earlier, field)), of(Operand::later, set.field),
                             make_conditional(make_unary("!", of(Operand::later, field)),
                                              of(Operand::earlier, set.field), set.value));
    op.state.push_back({field, Type::boolean, Expression(false), {}});
    op.lift.assignments.push_back({field, Expression(true), {}});
    op.combine.assignments.push_back(
        {field, make_binary("||", of(Operand::earlier, field), of(Operand::later, field)), {}});
    op.append.reset();  // `append` may rely on the old identity
    op.factors.reset();
    return check(std::move(op));
}

}  // namespace segfold
