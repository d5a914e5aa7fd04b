#include "dsl/evaluation/table_reads.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace segfold {
namespace {

/// Largest number of nodes of an expression that is looked up among known conditions.
constexpr int kLargestKnown = 24;
/// Number of nodes that are analysed. Nodes beyond this number may have any value of their type.
constexpr int kMostSteps = 1'000'000;

bool is_counted(const Expression& expression)
{
    return is_integer(*expression->type) || *expression->type == Type::boolean;
}

bool is_constant(const Expression& expression)
{
    return expression->kind == ExpressionKind::integer || expression->kind == ExpressionKind::boolean ||
           expression->kind == ExpressionKind::limit;
}

/// Returns the comparison that is true if and only if `symbol` is false.
std::string opposite(std::string_view symbol)
{
    using Pair = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Pair, 6> kOpposites = {
        {{"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}, {"==", "!="}, {"!=", "=="}}};
    const auto* const found = std::ranges::find(kOpposites, symbol, &Pair::first);
    return found == kOpposites.end() ? "" : std::string(found->second);
}

/// Returns the values of `left` for which `left SYMBOL right` may be true.
Interval left_where(const std::string& symbol, const Interval& left, const Interval& right)
{
    if (right.is_empty())
        return {};
    if (symbol == "<")
        return {left.low, std::min(left.high, right.high - 1)};
    if (symbol == "<=")
        return {left.low, std::min(left.high, right.high)};
    if (symbol == ">")
        return {std::max(left.low, right.low + 1), left.high};
    if (symbol == ">=")
        return {std::max(left.low, right.low), left.high};
    if (symbol == "==")
        return meet(left, right);
    if (right.low != right.high)
        return left;
    return {left.low == right.low ? left.low + 1 : left.low,
            left.high == right.low ? left.high - 1 : left.high};
}

std::string mirrored(const std::string& symbol)
{
    return symbol == "<" ? ">" : symbol == "<=" ? ">=" : symbol == ">" ? "<" : symbol == ">=" ? "<=" : symbol;
}

class Walk {
public:
    Walk(const Operator& op, const ReadRanges& data) : op_(op), data_(data) {}

    std::vector<std::string> unproved()
    {
        visit(op_.lift);
        if (op_.scan)
            visit(op_.scan->block);
        if (op_.map) {
            for (const auto& result : op_.results)
                results_[result.name] = result.type;
            visit(*op_.map);
        }
        std::vector<std::string> names;
        for (const auto& parameter : op_.parameters)
            if (unproved_.contains(parameter.name))
                names.push_back(parameter.name);
        return names;
    }

private:
    struct Fact {
        Expression expression;
        Interval values;
    };
    struct KnownLet {
        Expression value;
        bool is_known = false;
        Interval values;
    };

    void visit(const Block& block)
    {
        lets_.clear();
        for (const auto& let : block.lets) {
            lets_[let.name].value = let.value;
            visit(let.value);
        }
        for (const auto& assignment : block.assignments)
            visit(assignment.value);
    }

    /// Analyses every read of a table that the expression may perform.
    void visit(const Expression& expression)
    {
        if (!gathers(expression))
            return;
        const auto& node = *expression;
        if (node.kind == ExpressionKind::gather) {
            visit(node.arguments[0]);
            if (!is_inside(node))
                unproved_.insert(node.name);
            return;
        }
        const bool is_and = node.symbol == "&&", is_or = node.symbol == "||";
        if (node.kind == ExpressionKind::conditional || is_and || is_or) {
            visit(node.arguments[0]);
            if (!is_or)
                visit_where(node.arguments[0], true, node.arguments[1]);
            if (!is_and)
                visit_where(node.arguments[0], false, node.arguments[is_or ? 1 : 2]);
            return;
        }
        for (const auto& argument : node.arguments)
            visit(argument);
    }

    void visit_where(const Expression& condition, bool holds, const Expression& side)
    {
        if (!gathers(side) || !values(condition).contains(holds ? 1 : 0))
            return;
        const auto known = facts_.size();
        assume(condition, holds);
        visit(side);
        facts_.resize(known);
    }

    [[nodiscard]] bool is_inside(const ExpressionNode& gather)
    {
        return values(gather.arguments[0]).is_within({0, data_.length(gather.name) - 1});
    }

    /// Adds the facts that hold where the condition has the value `holds`.
    void assume(const Expression& condition, bool holds)
    {
        const auto& node = *condition;
        if (node.kind == ExpressionKind::unary && node.symbol == "!")
            return assume(node.arguments[0], !holds);
        if (node.symbol == (holds ? "&&" : "||")) {
            assume(node.arguments[0], holds);
            return assume(node.arguments[1], holds);
        }
        if (node.kind == ExpressionKind::name) {
            know(condition, {holds ? 1 : 0, holds ? 1 : 0});
            if (const auto let = lets_.find(node.name); let != lets_.end())
                assume(let->second.value, holds);
            return;
        }
        if (node.kind != ExpressionKind::binary || opposite(node.symbol).empty() ||
            !is_counted(node.arguments[0]))
            return;
        const auto symbol = holds ? node.symbol : opposite(node.symbol);
        const auto left = values(node.arguments[0]), right = values(node.arguments[1]);
        know(node.arguments[0], left_where(symbol, left, right));
        know(node.arguments[1], left_where(mirrored(symbol), right, left));
    }

    void know(const Expression& expression, const Interval& values_there)
    {
        if (is_constant(expression) || expression->size > kLargestKnown)
            return;
        facts_.push_back({expression, values_there});
        // If the conversion changes no value, the fact also holds for its argument.
        if (expression->kind != ExpressionKind::convert || !is_counted(expression->arguments[0]))
            return;
        const auto& inner = expression->arguments[0];
        if (values(inner).is_within(values_of(*expression->type)))
            know(inner, values_there);
    }

    /// Returns the range of an expression of integers or bools, given `facts_`.
    Interval values(const Expression& expression)
    {
        if (++steps_ > kMostSteps)
            return values_of(*expression->type);
        auto possible = values_of_node(expression);
        if (!facts_.empty() && expression->size <= kLargestKnown)
            for (const auto& fact : facts_)
                if (same(fact.expression, expression))
                    possible = meet(possible, fact.values);
        return possible;
    }

    Interval values_of_node(const Expression& expression)
    {
        const auto& node = *expression;
        const Type type = *node.type;
        const auto single = [](WideInteger value) { return Interval{value, value}; };
        switch (node.kind) {
            case ExpressionKind::boolean: return single(node.magnitude);
            case ExpressionKind::integer:
                return single(node.negative ? -WideInteger{node.magnitude} : WideInteger{node.magnitude});
            case ExpressionKind::limit:
                return single(node.name == "lowest" ? values_of(type).low : values_of(type).high);
            case ExpressionKind::name: return values_of_name(node.name);
            case ExpressionKind::unary: return unary_values(node.symbol, type, values(node.arguments[0]));
            case ExpressionKind::binary: return values_of_binary(node);
            case ExpressionKind::conditional:
                return values_of_choice(node.arguments[0], node.arguments[1], node.arguments[2]);
            case ExpressionKind::call: return values_of_call(node);
            case ExpressionKind::convert:
                return is_counted(node.arguments[0]) ? wrapped(type, values(node.arguments[0]))
                                                     : values_of(type);
            case ExpressionKind::gather: {
                // A checked read past the end gives 0.
                const auto index = values(node.arguments[0]);
                if (index.is_empty())
                    return {};
                const auto elements = data_.values(node.name);
                return is_inside(node) ? elements : hull(elements, single(0));
            }
            default: return values_of(type);
        }
    }

    Interval values_of_name(const std::string& name)
    {
        const auto let = lets_.find(name);
        if (let == lets_.end()) {
            const auto result = results_.find(name);
            return result == results_.end() ? data_.values(name) : values_of(result->second);
        }
        auto& known = let->second;
        if (!known.is_known) {
            // The range serves all uses of the local, so facts about this use must not narrow it.
            const auto facts = std::exchange(facts_, {});
            known.values = values(known.value);
            known.is_known = true;
            facts_ = facts;
        }
        return known.values;
    }

    Interval values_of_binary(const ExpressionNode& node)
    {
        const auto& left = node.arguments[0];
        const auto& right = node.arguments[1];
        if (node.symbol == "&&" || node.symbol == "||") {
            const bool stops = node.symbol == "||";  // the left value that decides the result alone
            const auto first = values(left);
            Interval result = first.contains(stops) ? Interval{stops, stops} : Interval{};
            if (first.contains(!stops))
                result = hull(result, values_where(left, !stops, right));
            return result;
        }
        if (!is_counted(left))
            return values_of(Type::boolean);
        auto first = values(left);
        if (node.symbol == "*" && same(left, right) && !first.is_empty()) {  // a square is not negative
            const auto ends = std::minmax(
                {first.low < 0 ? -first.low : first.low, first.high < 0 ? -first.high : first.high});
            first = {first.contains(0) ? 0 : ends.first, ends.second};
            return binary_values("*", *left->type, first, first);
        }
        return binary_values(node.symbol, *left->type, first, values(right));
    }

    Interval values_of_choice(const Expression& condition, const Expression& yes, const Expression& no)
    {
        const auto chosen = values(condition);
        Interval result;
        if (chosen.contains(1))
            result = values_where(condition, true, yes);
        if (chosen.contains(0))
            result = hull(result, values_where(condition, false, no));
        return result;
    }

    Interval values_where(const Expression& condition, bool holds, const Expression& side)
    {
        const auto known = facts_.size();
        assume(condition, holds);
        const auto result = values(side);
        facts_.resize(known);
        return result;
    }

    Interval values_of_call(const ExpressionNode& node)
    {
        const auto& first = node.arguments[0];
        if (!is_counted(first))
            return values_of(*node.type);
        return function_values(node.name, *first->type, values(first),
                               node.arguments.size() > 1 ? values(node.arguments[1]) : Interval{});
    }

    const Operator& op_;
    const ReadRanges& data_;
    std::map<std::string, KnownLet> lets_;  ///< locals of the current block
    std::map<std::string, Type> results_;   ///< types of the results that map reads
    std::vector<Fact> facts_;
    std::set<std::string> unproved_;
    int steps_ = 0;
};

/// True if an expression rounds a value, in itself or in locals that it reads.
bool rounds(const Expression& expression, const std::vector<Let>& lets)
{
    const auto& node = *expression;
    const bool is_read = node.kind == ExpressionKind::gather || node.arguments.empty();
    if (is_float(*node.type) && !is_read)
        return true;
    if (node.kind == ExpressionKind::name)
        for (const auto& let : lets)
            if (let.name == node.name)
                return rounds(let.value, lets);
    return std::ranges::any_of(node.arguments, [&](const auto& argument) { return rounds(argument, lets); });
}

/// True if the value of the first argument decides which further arguments are evaluated.
bool chooses(const ExpressionNode& node)
{
    return node.kind == ExpressionKind::conditional || node.symbol == "&&" || node.symbol == "||";
}

bool reads_by_rounding(const Expression& expression, const std::vector<Let>& lets)
{
    const auto& node = *expression;
    if ((node.kind == ExpressionKind::gather || (chooses(node) && gathers(expression))) &&
        rounds(node.arguments[0], lets))
        return true;
    return std::ranges::any_of(node.arguments,
                               [&](const auto& argument) { return reads_by_rounding(argument, lets); });
}

/// Names on which indices of tables depend, directly or through locals. With `choices`, also names that
/// decide whether a table is read.
class PlaceNames {
public:
    PlaceNames(const Operator& op, const Block& block, bool choices = false) : op_(op), choices_(choices)
    {
        for (const auto& let : block.lets) {
            lets_.emplace(let.name, let.value);
            visit(let.value, false);
        }
        for (const auto& assignment : block.assignments)
            visit(assignment.value, false);
    }

    [[nodiscard]] bool contains(const std::string& name) const { return names_.contains(name); }
    /// True if an index depends on a field of a state.
    [[nodiscard]] bool has_state() const { return has_state_; }

private:
    void visit(const Expression& expression, bool in_index)
    {
        has_state_ = has_state_ || (in_index && expression->kind == ExpressionKind::field);
        if (in_index && expression->kind == ExpressionKind::name && names_.insert(expression->name).second)
            if (const auto let = lets_.find(expression->name); let != lets_.end())
                visit(let->second, true);
        const bool is_table_read = expression->kind == ExpressionKind::gather && !is_scalar(expression->name);
        const bool decides =
            is_table_read || (choices_ && chooses(*expression) && any_side_gathers(expression));
        for (std::size_t i = 0; i < expression->arguments.size(); ++i)
            visit(expression.argument(i), in_index || (decides && i == 0));
    }

    /// True if the first argument decides whether a table is read.
    static bool any_side_gathers(const Expression& choice)
    {
        return std::any_of(choice->arguments.begin() + 1, choice->arguments.end(),
                           [](const auto& side) { return gathers(side); });
    }

    [[nodiscard]] bool is_scalar(const std::string& name) const
    {
        return std::ranges::any_of(op_.parameters, [&](const auto& parameter) {
            return parameter.scalar && parameter.name == name;
        });
    }

    const Operator& op_;
    bool choices_;
    bool has_state_ = false;
    std::map<std::string, Expression> lets_;
    std::set<std::string> names_;
};

}  // namespace

std::vector<std::string> unproved_tables(const Operator& op, const ReadRanges& ranges)
{
    return Walk(op, ranges).unproved();
}

std::vector<bool> columns_of_places(const Operator& op)
{
    const PlaceNames lifted(op, op.lift);
    const auto mapped = op.map ? std::optional<PlaceNames>(std::in_place, op, *op.map) : std::nullopt;
    const auto scanned =
        op.scan ? std::optional<PlaceNames>(std::in_place, op, op.scan->block) : std::nullopt;
    std::vector<bool> are_places;
    for (const auto& parameter : op.parameters)
        if (!parameter.table)
            are_places.push_back(lifted.contains(parameter.name) ||
                                 (mapped && mapped->contains(parameter.name)) ||
                                 (scanned && scanned->contains(parameter.name)));
    return are_places;
}

bool reads_by_results(const Operator& op)
{
    if (!op.map)
        return false;
    const PlaceNames names(op, *op.map, true);
    return std::ranges::any_of(op.results, [&](const auto& result) { return names.contains(result.name); });
}

bool reads_by_states(const Operator& op)
{
    return op.scan && PlaceNames(op, op.scan->block, true).has_state();
}

bool reads_by_rounding(const Operator& op)
{
    const auto& lets = op.lift.lets;
    return std::ranges::any_of(lets, [&](const auto& let) { return reads_by_rounding(let.value, lets); }) ||
           std::ranges::any_of(op.lift.assignments,
                               [&](const auto& set) { return reads_by_rounding(set.value, lets); });
}

}  // namespace segfold
