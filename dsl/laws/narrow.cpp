#include "dsl/laws/narrow.h"

#include "dsl/check/check.h"
#include "dsl/error.h"

namespace segfold {
namespace {

Type narrow(Type type)
{
    return is_signed_integer(type) ? Type::i8 : is_unsigned_integer(type) ? Type::u8 : type;
}

/// Narrows the types that an expression names: those of limits and conversions. check() derives all others
/// again.
Expression narrow(const Expression& expression)
{
    ExpressionNode node = *expression;
    const bool names_type = node.kind == ExpressionKind::limit || node.kind == ExpressionKind::convert;
    node.type = names_type ? std::optional(narrow(*node.type)) : std::nullopt;
    for (auto& argument : node.arguments)
        argument = narrow(argument);
    return Expression(std::move(node));
}

Block narrow(Block block)
{
    for (auto& let : block.lets)
        let.value = narrow(let.value);
    for (auto& assignment : block.assignments)
        assignment.value = narrow(assignment.value);
    return block;
}

}  // namespace

std::optional<Operator> narrow_to_8_bits(const Operator& op)
{
    Operator small = without_map(op);
    for (auto& parameter : small.parameters)
        parameter.type = narrow(parameter.type);
    for (auto& field : small.state) {
        field.type = narrow(field.type);
        if (field.identity)
            field.identity = narrow(*field.identity);
    }
    small.lift = narrow(std::move(small.lift));
    small.combine = narrow(std::move(small.combine));
    small.append.reset();
    small.results.clear();
    small.finish.reset();
    small.empty.reset();
    try {
        return check(std::move(small));
    } catch (const SpecError&) {
        return std::nullopt;
    }
}

}  // namespace segfold
