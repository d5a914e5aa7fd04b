#include "dsl/rewrite/short_counts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/rewrite/short_fields.h"

namespace segfold {
namespace {

/// An upper bound on a count, in multiples of the numbers of elements in the earlier and the later operand.
struct Bound {
    int earlier = 0;
    int later = 0;
};

/// Bounds the counts in a block. In `lift` and `append`, the later operand is one element, and a literal 1
/// counts it.
class Counts {
public:
    Counts(const FieldNames& fields, bool has_element) : fields_(fields), has_element_(has_element) {}

    void add_let(const Let& let)
    {
        if (const auto bound = of(let.value))
            lets_[let.name] = {*bound, mentions(let.value)};
    }

    /// Returns the bound of an expression. Returns none if the value may be negative or may count an element
    /// twice.
    std::optional<Bound> of(const Expression& expression) const
    {
        const auto& arguments = expression->arguments;
        switch (expression->kind) {
            case ExpressionKind::integer: return literal(expression);
            case ExpressionKind::field:
                if (!fields_.contains(expression->name))
                    return std::nullopt;
                return expression->operand == Operand::later ? Bound{0, 1} : Bound{1, 0};
            case ExpressionKind::name: {
                const auto let = lets_.find(expression->name);
                return let == lets_.end() ? std::nullopt : std::optional(let->second.bound);
            }
            case ExpressionKind::convert:
                if (expression->type != Type::i64)
                    return std::nullopt;
                if (arguments[0]->type == Type::boolean)
                    return has_element_ ? std::optional(Bound{0, 1}) : std::nullopt;
                return arguments[0]->type == Type::i64 || arguments[0]->kind == ExpressionKind::integer
                           ? of(arguments[0])
                           : std::nullopt;
            case ExpressionKind::conditional: return greater(of(arguments[1]), of(arguments[2]));
            case ExpressionKind::binary:
                return expression->symbol == "+" ? sum(of(arguments[0]), of(arguments[1])) : std::nullopt;
            case ExpressionKind::call:
                return is_selection(expression) ? greater(of(arguments[0]), of(arguments[1])) : std::nullopt;
            default: return std::nullopt;
        }
    }

    /// True if the expression uses a count of a state, directly or through a local.
    bool mentions(const Expression& expression) const
    {
        if (expression->kind == ExpressionKind::field)
            return fields_.contains(expression->name);
        if (expression->kind == ExpressionKind::name)
            return is_short_let(expression->name);
        return std::ranges::any_of(expression->arguments, [&](const auto& e) { return mentions(e); });
    }

    /// True if a local holds a count of a state. Such a local becomes an i32.
    bool is_short_let(const std::string& name) const
    {
        const auto let = lets_.find(name);
        return let != lets_.end() && let->second.is_short;
    }

    /// True if both sides of a comparison are counts or numbers, and at least one side uses a count of a
    /// state.
    bool compares(const Expression& expression) const
    {
        return is_comparison(expression) && mentions(expression) &&
               std::ranges::all_of(expression->arguments,
                                   [&](const auto& side) { return is_number(side) || of(side).has_value(); });
    }

    /// True if a count is converted to another type.
    bool converts(const Expression& expression) const
    {
        return expression->kind == ExpressionKind::convert && mentions(expression) &&
               of(expression->arguments[0]).has_value();
    }

private:
    struct LetBound {
        Bound bound;
        bool is_short;
    };

    static bool is_number(const Expression& expression)
    {
        return expression->kind == ExpressionKind::integer && expression->magnitude < (1u << 31) - 1;
    }

    std::optional<Bound> literal(const Expression& expression) const
    {
        if (expression->magnitude == 0)
            return Bound{};
        const bool is_one = expression->magnitude == 1 && !expression->negative;
        return is_one && has_element_ ? std::optional(Bound{0, 1}) : std::nullopt;
    }

    static std::optional<Bound> sum(std::optional<Bound> left, std::optional<Bound> right)
    {
        if (!left || !right || left->earlier + right->earlier > 1 || left->later + right->later > 1)
            return std::nullopt;
        return Bound{left->earlier + right->earlier, left->later + right->later};
    }

    static std::optional<Bound> greater(std::optional<Bound> left, std::optional<Bound> right)
    {
        if (!left || !right)
            return std::nullopt;
        return Bound{std::max(left->earlier, right->earlier), std::max(left->later, right->later)};
    }

    const FieldNames& fields_;
    bool has_element_;
    std::map<std::string, LetBound> lets_;
};

/// Returns the bounds of a block's locals and values.
Counts counts_of(const Operator& op, const Block& block, const FieldNames& fields)
{
    Counts counts(fields, &block != &op.combine);
    for (const auto& let : block.lets)
        counts.add_let(let);
    return counts;
}

/// True if argument `i` must be a count. `is_wanted` is true if the expression itself must be a count.
bool is_argument_wanted(const Expression& expression, std::size_t i, bool is_wanted, const Counts& counts)
{
    if (counts.compares(expression) || counts.converts(expression))
        return true;
    if (!is_wanted)
        return false;
    const bool is_sum = expression->kind == ExpressionKind::binary;
    return (expression->kind == ExpressionKind::conditional && i > 0) || is_selection(expression) || is_sum;
}

/// Adds the fields that an expression uses, directly or through locals.
void add_mentioned(const Expression& expression, const Block& block, FieldNames& names)
{
    if (expression->kind == ExpressionKind::field)
        names.insert(expression->name);
    if (expression->kind == ExpressionKind::name)
        for (const auto& let : block.lets)
            if (let.name == expression->name)
                add_mentioned(let.value, block, names);
    for (const auto& argument : expression->arguments)
        add_mentioned(argument, block, names);
}

/// Adds to `others` the fields that an expression uses for another purpose than counting.
void add_others(const Expression& expression, bool is_wanted, const Counts& counts, const Block& block,
                FieldNames& others)
{
    const bool is_short_let =
        expression->kind == ExpressionKind::name && counts.is_short_let(expression->name);
    if (!is_wanted && (expression->kind == ExpressionKind::field || is_short_let))
        add_mentioned(expression, block, others);
    for (std::size_t i = 0; i < expression->arguments.size(); ++i)
        add_others(expression->arguments[i], is_argument_wanted(expression, i, is_wanted, counts), counts,
                   block, others);
}

FieldNames count_fields(const Operator& op)
{
    FieldNames fields;
    for (const auto& field : op.state) {
        const bool begins_at_zero = !field.identity || ((*field.identity)->kind == ExpressionKind::integer &&
                                                        (*field.identity)->magnitude == 0);
        if (field.type == Type::i64 && begins_at_zero)
            fields.insert(field.name);
    }
    for (std::size_t before = fields.size() + 1; fields.size() < before;) {
        before = fields.size();
        FieldNames others;
        for (const auto* block : state_blocks(op)) {
            const auto counts = counts_of(op, *block, fields);
            for (const auto& let : block->lets)
                add_others(let.value, counts.is_short_let(let.name), counts, *block, others);
            for (const auto& assignment : block->assignments) {
                const bool is_count =
                    fields.contains(assignment.field) && counts.of(assignment.value).has_value();
                if (!is_count)
                    others.insert(assignment.field);
                add_others(assignment.value, is_count, counts, *block, others);
            }
        }
        for (const auto& name : others)
            fields.erase(name);
    }
    return fields;
}

/// Rewrites `expression` for a state with 32-bit counts. Only limits and conversions keep their types;
/// check() finds the other types again.
Expression shorten(const Expression& expression, bool is_wanted, const Counts& counts)
{
    ExpressionNode node = *expression;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type = std::nullopt;
    if (is_wanted && node.kind == ExpressionKind::convert)
        node.type = Type::i32;
    if (is_wanted && node.kind == ExpressionKind::name && !counts.is_short_let(node.name))
        return make_convert(Type::i32, Expression(std::move(node)));
    for (std::size_t i = 0; i < node.arguments.size(); ++i)
        node.arguments[i] =
            shorten(node.arguments[i], is_argument_wanted(expression, i, is_wanted, counts), counts);
    return Expression(std::move(node));
}

Block shorten(const Operator& op, const Block& written, const FieldNames& fields)
{
    const auto counts = counts_of(op, written, fields);
    Block block = written;
    for (auto& let : block.lets)
        let.value = shorten(let.value, counts.is_short_let(let.name), counts);
    for (auto& assignment : block.assignments)
        assignment.value = shorten(assignment.value, fields.contains(assignment.field), counts);
    return block;
}

}  // namespace

Operator short_counts(Operator op)
{
    const auto fields = count_fields(op);
    if (fields.empty())
        return op;
    auto shorter = op;
    lengthen_reads(shorter, fields, {});
    shorter.lift = shorten(op, op.lift, fields);
    shorter.combine = shorten(op, op.combine, fields);
    if (op.append)
        shorter.append = shorten(op, *op.append, fields);
    for (auto& field : shorter.state)
        if (fields.contains(field.name)) {
            field.type = Type::i32;
            if (field.identity)
                field.identity = Expression(0);
        }
    try {
        return check(std::move(shorter));
    } catch (const SpecError&) {  // the operator would become too large
        return op;
    }
}

}  // namespace segfold
