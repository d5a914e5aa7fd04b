#include "dsl/operator.h"

#include <algorithm>
#include <functional>

namespace segfold {
namespace {

bool same_optional(const std::optional<Expression>& left, const std::optional<Expression>& right)
{
    return left.has_value() == right.has_value() && (!left || same(*left, *right));
}

bool same_block(const Block& left, const Block& right)
{
    const auto same_let = [](const Let& a, const Let& b) {
        return a.name == b.name && same(a.value, b.value);
    };
    const auto same_set = [](const Assignment& a, const Assignment& b) {
        return a.field == b.field && same(a.value, b.value);
    };
    return std::ranges::equal(left.lets, right.lets, same_let) &&
           std::ranges::equal(left.assignments, right.assignments, same_set);
}

bool same_optional_block(const std::optional<Block>& left, const std::optional<Block>& right)
{
    return left.has_value() == right.has_value() && (!left || same_block(*left, *right));
}

bool same_scan(const std::optional<Scan>& left, const std::optional<Scan>& right)
{
    return left.has_value() == right.has_value() &&
           (!left || (left->before == right->before && left->through == right->through &&
                      left->reverse == right->reverse && same_block(left->block, right->block)));
}

/// True if `holds` is true for the node or any node below it.
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

/// True if a node rounds its floating-point value; another grouping may then give another value.
bool rounds(const ExpressionNode& node)
{
    if (!node.type || !is_float(*node.type))
        return false;
    if (node.kind == ExpressionKind::binary)
        return true;
    constexpr std::string_view exact[] = {"min", "max", "abs", "copysign", "floor", "ceil", "round"};
    return node.kind == ExpressionKind::call && std::ranges::find(exact, node.name) == std::end(exact);
}

/// True if the value is certainly not a product. A compiler can fuse only a product with an addition.
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

/// True if back ends may round a node differently. All back ends agree on a single operation that is
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

bool same(const Operator& left, const Operator& right)
{
    const auto same_parameter = [](const Parameter& a, const Parameter& b) {
        return a.name == b.name && a.type == b.type && a.table == b.table && a.scalar == b.scalar &&
               a.row == b.row;
    };
    const auto same_field = [](const StateField& a, const StateField& b) {
        return a.name == b.name && a.type == b.type && same_optional(a.identity, b.identity);
    };
    const auto same_result = [](const ResultField& a, const ResultField& b) {
        return a.name == b.name && a.type == b.type;
    };
    return left.name == right.name && std::ranges::equal(left.parameters, right.parameters, same_parameter) &&
           std::ranges::equal(left.results, right.results, same_result) &&
           std::ranges::equal(left.state, right.state, same_field) && same_block(left.lift, right.lift) &&
           std::ranges::equal(left.outputs, right.outputs, same_result) &&
           left.keeps_results == right.keeps_results && same_optional_block(left.map, right.map) &&
           same_scan(left.scan, right.scan) && left.earlier == right.earlier && left.later == right.later &&
           same_block(left.combine, right.combine) && same_optional_block(left.append, right.append) &&
           same_optional_block(left.finish, right.finish) && same_optional_block(left.empty, right.empty) &&
           left.laws == right.laws;
}

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

// Requires that combine never rounds. Other parts may round only f32 and f64, and only by single + - * / and
// sqrt that no compiler may fuse: i32(x * 8.0) is exact, x * y + z is not.
bool is_exact(const Operator& op)
{
    const auto is_free = [&](const ExpressionNode& node) { return rounds_freely(node, op); };
    return combines_exactly(op) && !any_node(op.lift, is_free) &&
           !(op.append && any_node(*op.append, is_free)) && !(op.finish && any_node(*op.finish, is_free)) &&
           !(op.empty && any_node(*op.empty, is_free)) && !(op.map && any_node(*op.map, is_free)) &&
           !(op.scan && any_node(op.scan->block, is_free));
}

}  // namespace segfold
