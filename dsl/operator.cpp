#include "dsl/operator.h"

#include <algorithm>
#include <functional>

namespace segfold {
namespace {

void add(Digest& digest, const Expression& expression)
{
    digest.add(std::uint64_t{expression.has_value()});
    if (expression.has_value())
        digest.add(expression->digest);
}

void add(Digest& digest, const Block& block)
{
    digest.add(block.lets.size());
    for (const auto& let : block.lets) {
        digest.add(let.name);
        add(digest, let.value);
    }
    digest.add(block.assignments.size());
    for (const auto& assignment : block.assignments) {
        digest.add(assignment.field);
        add(digest, assignment.value);
    }
}

void add(Digest& digest, const Scan& scan)
{
    digest.add(scan.before);
    digest.add(scan.through);
    digest.add(std::uint64_t{scan.reverse});
    add(digest, scan.block);
}

template <class Part>
void add(Digest& digest, const std::optional<Part>& part)
{
    digest.add(std::uint64_t{part.has_value()});
    if (part)
        add(digest, *part);
}

void add(Digest& digest, const std::vector<ResultField>& fields)
{
    digest.add(fields.size());
    for (const auto& field : fields) {
        digest.add(field.name);
        digest.add(static_cast<std::uint64_t>(field.type));
    }
}

/// True if `holds` returns true for the node or for any node below it.
bool any_node(const Expression& expression, const std::function<bool(const ExpressionNode&)>& holds)
{
    return holds(*expression) || std::ranges::any_of(expression->arguments,
                                                     [&](const Expression& e) { return any_node(e, holds); });
}

bool any_node(const Block& block, const std::function<bool(const ExpressionNode&)>& holds)
{
    return std::ranges::any_of(block.lets, [&](const Let& let) { return any_node(let.value, holds); }) ||
           std::ranges::any_of(block.assignments,
                               [&](const Assignment& a) { return any_node(a.value, holds); });
}

/// True if the operation of a node has rounding errors, so that the value may depend on the grouping of
/// operands. Conversions and the functions floor, ceil and round have none in this sense.
bool rounds(const ExpressionNode& node)
{
    if (!node.type || !is_float(*node.type))
        return false;
    if (node.kind == ExpressionKind::binary)
        return true;
    constexpr std::string_view exact[] = {"min", "max", "abs", "copysign", "floor", "ceil", "round"};
    return node.kind == ExpressionKind::call && std::ranges::find(exact, node.name) == std::end(exact);
}

/// True if the value is certainly no product. Compilers fuse only products with additions.
bool is_no_product(const Expression& expression, const Operator& op)
{
    switch (expression->kind) {
        case ExpressionKind::integer:
        case ExpressionKind::real:
        case ExpressionKind::constant:
        case ExpressionKind::limit:
        case ExpressionKind::gather: return true;
        case ExpressionKind::convert:
            return !expression.argument(0)->type || !is_float(*expression.argument(0)->type);
        case ExpressionKind::name:
            return std::ranges::find(op.parameters, expression->name, &Parameter::name) !=
                   op.parameters.end();
        case ExpressionKind::binary:
            return expression->symbol == "+" || expression->symbol == "-" || expression->symbol == "/";
        default: return false;
    }
}

/// True if back ends may give a node different values. All of them agree on a single operation that is
/// correctly rounded.
bool rounds_freely(const ExpressionNode& node, const Operator& op)
{
    if (!rounds(node))
        return false;
    if (node.type != Type::f32 && node.type != Type::f64)
        return true;
    if (node.kind == ExpressionKind::call)
        return node.name != "sqrt";
    if (node.symbol == "*" || node.symbol == "/")
        return false;
    return (node.symbol != "+" && node.symbol != "-") ||
           !std::ranges::all_of(node.arguments, [&](const Expression& e) { return is_no_product(e, op); });
}

}  // namespace

Digest digest_of(const Operator& op)
{
    Digest digest;
    digest.add(op.name);
    digest.add(op.parameters.size());
    for (const auto& parameter : op.parameters) {
        digest.add(parameter.name);
        digest.add(static_cast<std::uint64_t>(parameter.type) << 3U | std::uint64_t{parameter.table} << 2U |
                   std::uint64_t{parameter.scalar} << 1U | std::uint64_t{parameter.row});
    }
    add(digest, op.results);
    add(digest, op.outputs);
    digest.add(op.state.size());
    for (const auto& field : op.state) {
        digest.add(field.name);
        digest.add(static_cast<std::uint64_t>(field.type));
        add(digest, field.identity);
    }
    add(digest, op.lift);
    digest.add(op.earlier);
    digest.add(op.later);
    add(digest, op.combine);
    for (const auto* part : {&op.append, &op.finish, &op.empty, &op.map})
        add(digest, *part);
    add(digest, op.scan);
    digest.add(std::uint64_t{op.keeps_results} << 2U | std::uint64_t{op.laws.commutative} << 1U |
               std::uint64_t{op.laws.idempotent});
    return digest;
}

bool same(const Operator& left, const Operator& right) { return digest_of(left) == digest_of(right); }

std::vector<ResultField> returned_fields(const Operator& op)
{
    auto fields = op.keeps_results ? op.results : std::vector<ResultField>();
    fields.insert(fields.end(), op.outputs.begin(), op.outputs.end());
    return fields;
}

std::string advice_on_empty_segments(const Operator& op)
{
    if (op.identity_word.empty())
        return "give its state fields an identity (= VALUE), or an 'empty' part";
    const char* between = op.identity_word.starts_with("--") ? " " : "=";
    return "give " + op.identity_word + between + "EXPRESSION, the state that changes nothing";
}

std::vector<std::size_t> output_places(const Operator& op, const Block& block)
{
    std::vector<std::size_t> places;
    for (const auto& assignment : block.assignments)
        places.push_back(static_cast<std::size_t>(
            std::ranges::find(op.outputs, assignment.field, &ResultField::name) - op.outputs.begin()));
    return places;
}

Operator without_outputs(Operator op)
{
    op.map.reset();
    op.scan.reset();
    op.outputs.clear();
    op.keeps_results = true;
    return op;
}

bool reads_before(const Operator& op)
{
    return op.scan && any_node(op.scan->block, [](const ExpressionNode& node) {
               return node.kind == ExpressionKind::field && node.operand == Operand::earlier;
           });
}

bool uses_name(const Block& block, std::string_view name)
{
    return any_node(block, [&](const ExpressionNode& node) {
        return node.kind == ExpressionKind::name && node.name == name;
    });
}

bool reads(const Block& block, std::string_view parameter)
{
    return any_node(block, [&](const ExpressionNode& node) {
        return (node.kind == ExpressionKind::name || node.kind == ExpressionKind::gather) &&
               node.name == parameter;
    });
}

bool combines_exactly(const Operator& op) { return !any_node(op.combine, rounds); }

// combine must never round. Other parts may round only in f32 and f64, and only by a single + - * / or sqrt
// that no compiler may fuse. For example, i32(x * 8.0) is exact, but x * y + z is not.
bool is_exact(const Operator& op)
{
    const auto is_free = [&](const ExpressionNode& node) { return rounds_freely(node, op); };
    return combines_exactly(op) && !any_node(op.lift, is_free) &&
           !(op.append && any_node(*op.append, is_free)) && !(op.finish && any_node(*op.finish, is_free)) &&
           !(op.empty && any_node(*op.empty, is_free)) && !(op.map && any_node(*op.map, is_free)) &&
           !(op.scan && any_node(op.scan->block, is_free));
}

}  // namespace segfold
