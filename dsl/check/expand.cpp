#include "dsl/check/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dsl/message/suggest.h"

namespace segfold {
namespace {

/// `name` of an integer node that holds the value of a loop counter. Other integer nodes have no name.
constexpr const char* kCounter = "counter";

/// Largest number of nodes that the expansion may create. A finished operator may have only kMostNodes.
constexpr int kMostMade = 8 * kMostNodes;

bool is_literal(const ExpressionNode& node)
{
    return node.kind == ExpressionKind::integer || node.kind == ExpressionKind::boolean;
}

bool is_counter(const Expression& expression)
{
    return is_literal(*expression) && expression->name == kCounter;
}

Expression marked(ExpressionNode node, Position position)
{
    node.name = kCounter;
    node.position = position;
    return Expression(std::move(node));
}

std::optional<std::int64_t> apply(std::string_view symbol, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    if (symbol == "+")
        return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (symbol == "-")
        return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (symbol == "*")
        return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    const bool divides = b != 0 && (b != -1 || a != std::numeric_limits<std::int64_t>::min());
    if (symbol == "/" && divides)
        return a / b;
    if (symbol == "%" && divides)
        return a % b;
    if (symbol == "&")
        return a & b;
    if (symbol == "|")
        return a | b;
    if (symbol == "^")
        return a ^ b;
    const bool shifts = a >= 0 && a < (std::int64_t{1} << 31) && b >= 0 && b < 32;
    if (symbol == "<<" && shifts)
        return a << b;
    if (symbol == ">>" && shifts)
        return a >> b;
    return std::nullopt;
}

std::optional<bool> compare(std::string_view symbol, std::int64_t a, std::int64_t b)
{
    if (symbol == "==")
        return a == b;
    if (symbol == "!=")
        return a != b;
    if (symbol == "<")
        return a < b;
    if (symbol == "<=")
        return a <= b;
    if (symbol == ">")
        return a > b;
    if (symbol == ">=")
        return a >= b;
    return std::nullopt;
}

/// Computes an operation on loop counters and constants. Returns none if no operand is a counter, if the
/// value is unknown, or if the operation is one that check() must refuse.
std::optional<Expression> folded(const ExpressionNode& node)
{
    const auto& arguments = node.arguments;
    if (!std::ranges::any_of(arguments, is_counter))
        return std::nullopt;
    if (node.kind == ExpressionKind::conditional && is_counter(arguments[0]) &&
        arguments[0]->kind == ExpressionKind::boolean)
        return arguments[0]->magnitude != 0 ? arguments[1] : arguments[2];
    if (node.kind != ExpressionKind::unary && node.kind != ExpressionKind::binary)
        return std::nullopt;
    const auto boolean = [&](bool value) { return marked(*Expression(value), node.position); };
    if (node.symbol == "!" || node.symbol == "&&" || node.symbol == "||") {
        if (!std::ranges::all_of(arguments, [](const auto& a) { return a->kind == ExpressionKind::boolean; }))
            return std::nullopt;
        const bool left = arguments[0]->magnitude != 0;
        if (node.symbol == "!")
            return boolean(!left);
        const bool right = arguments[1]->magnitude != 0;
        return boolean(node.symbol == "&&" ? left && right : left || right);
    }
    if (const auto value = constant_value(Expression(node)))
        return marked(*Expression(*value), node.position);
    if (node.kind != ExpressionKind::binary)
        return std::nullopt;
    const auto left = constant_value(arguments[0]), right = constant_value(arguments[1]);
    if (!left || !right)
        return std::nullopt;
    const auto truth = compare(node.symbol, *left, *right);
    return truth ? std::optional(boolean(*truth)) : std::nullopt;
}

/// Removes the name kCounter from the nodes of a tree.
Expression unmarked(const Expression& expression)
{
    ExpressionNode node = *expression;
    if (is_literal(node))
        node.name.clear();
    for (auto& argument : node.arguments)
        argument = unmarked(argument);
    return Expression(std::move(node));
}

/// Splits "bins[3]" into the name and the index. Returns none for a name without an index.
std::optional<std::pair<std::string, std::int64_t>> split_entry(const std::string& target)
{
    if (const auto open = target.find('['); open != std::string::npos)
        return std::pair(target.substr(0, open), std::stoll(target.substr(open + 1)));
    return std::nullopt;
}

class Expander {
public:
    Expander(Operator& op, const Shorthands& shorthands, Unread& unread, Complaints& complaints)
        : op_(op), shorthands_(shorthands), unread_(unread), complaints_(complaints)
    {}

    void run()
    {
        for (auto& field : op_.state)
            if (field.identity && !complaints_.attempt([&] { field.identity = whole(*field.identity); }))
                field.identity = Expression(0);  // not used: the text has complaints
        block(op_.lift, "lift", shorthands_.state);
        operands_ = {op_.earlier, op_.later, "the earlier or the later state"};
        block(op_.combine, "combine", shorthands_.state);
        if (op_.append)
            block(*op_.append, "append", shorthands_.state);
        if (op_.scan) {
            operands_ = {op_.scan->before, op_.scan->through, "the state before the element or with it"};
            block(op_.scan->block, "scan", {});
        }
        operands_.clear();
        in_finish_ = true;
        if (op_.finish)
            block(*op_.finish, "finish", shorthands_.results);
        if (op_.map)
            block(*op_.map, "map", {});
        in_finish_ = false;
        // Without declared results, the results are the state's fields, arrays included.
        if (op_.empty)
            block(*op_.empty, "empty", op_.results.empty() ? shorthands_.state : shorthands_.results);
    }

private:
    /// Values of the arguments of the function that is being expanded.
    using Given = std::map<std::string, Expression, std::less<>>;

    [[noreturn]] void fail(Position position, const std::string& message, const std::string& hint = {}) const
    {
        throw placed_error(op_.source, position, message, hint);
    }

    void block(Block& block, const std::string& part, const Arrays& targets)
    {
        locals_.clear();
        std::vector<Let> lets;
        for (auto& let : block.lets) {
            const bool good = complaints_.attempt([&] {
                let.value = whole(let.value);
                if (const auto entry = split_entry(let.name)) {
                    const auto& [array, index] = *entry;
                    if (index < 0 || index >= kMostEntries)
                        fail(let.position, "'" + let.name + "' is no entry of a local array",
                             "they run from 0 to " + std::to_string(kMostEntries - 1));
                    locals_[array].insert(index);
                    let.name = entry_name(array, index);
                }
            });
            if (good)
                lets.push_back(std::move(let));
            else
                leave_out(part, let.name);
        }
        block.lets = std::move(lets);
        std::vector<Assignment> assignments;
        for (auto& assignment : block.assignments) {
            const bool good = complaints_.attempt([&] {
                assignment.field = target(assignment, targets);
                assignment.value = whole(assignment.value);
            });
            if (good)
                assignments.push_back(std::move(assignment));
            else
                leave_out(part, assignment.field);
        }
        block.assignments = std::move(assignments);
        locals_.clear();
    }

    void leave_out(const std::string& part, const std::string& target)
    {
        const auto entry = split_entry(target);
        unread_.blocks[part].insert(entry ? entry_name(entry->first, entry->second) : target);
    }

    std::string target(const Assignment& assignment, const Arrays& targets) const
    {
        const auto entry = split_entry(assignment.field);
        const auto& name = entry ? entry->first : assignment.field;
        const auto array = targets.find(name);
        if (array == targets.end() && !entry)
            return name;
        if (array == targets.end()) {
            if (unread_.declared.contains(name) || unread_.parts)
                throw Silence();
            fail(assignment.position, "'" + name + "' is not an array",
                 "write " + name + ", or declare it as an array: " + name + ": i32[8]");
        }
        if (!entry)
            fail(assignment.position, "'" + name + "' is an array of " + entries(array->second),
                 "set each: for k in 0.." + std::to_string(array->second) + " { " + name + "[k] = ... }");
        check_index(name, entry->second, array->second, assignment.position);
        return entry_name(name, entry->second);
    }

    static std::string entries(std::int64_t count)
    {
        return std::to_string(count) + (count == 1 ? " entry" : " entries");
    }

    void check_index(const std::string& array, std::int64_t index, std::int64_t size, Position position) const
    {
        if (index < 0 || index >= size)
            fail(position, "'" + array + "' has no entry " + std::to_string(index),
                 size == 1 ? "its only one is 0" : "they run from 0 to " + std::to_string(size - 1));
    }

    /// Expands the expression of a part or a field.
    Expression whole(const Expression& expression)
    {
        open_.clear();
        auto result = walk(expression, nullptr);
        if (result->size > kMostNodes)
            too_large(expression->position);
        return unmarked(result);
    }

    [[noreturn]] void too_large(Position position) const
    {
        fail(position,
             "the operator has more than " + std::to_string(kMostNodes) + " numbers, names and operations",
             "this is the most that one may have");
    }

    Expression made(ExpressionNode node)
    {
        const Position position = node.position;
        Expression result(std::move(node));
        if (result->depth > kDeepestExpression)
            fail(position,
                 "the expression nests deeper than " + std::to_string(kDeepestExpression) + " levels",
                 "name parts of it with 'let'");
        if (++made_ > kMostMade)
            too_large(position);
        return result;
    }

    /// Expands an expression. `given` holds the arguments of the function being expanded, or is null.
    Expression walk(const Expression& expression, const Given* given)
    {
        const auto& node = *expression;
        if (node.kind == ExpressionKind::name || node.kind == ExpressionKind::field)
            return named(expression, given);
        if (node.kind == ExpressionKind::gather)
            return entry(expression, given);
        if (node.kind == ExpressionKind::call && shorthands_.unread.contains(node.name))
            throw Silence();
        if (node.kind == ExpressionKind::call)
            for (const auto& definition : shorthands_.functions)
                if (definition.name == node.name)
                    return call(definition, expression, given);
        if (node.arguments.empty())
            return expression;
        ExpressionNode result = node;
        for (auto& argument : result.arguments)
            argument = walk(argument, given);
        if (auto value = folded(result))
            return *value;
        return made(std::move(result));
    }

    /// Replaces the name of an argument, or a member of an argument, by the passed value. The value may be a
    /// whole state or array.
    static Expression meant(const Expression& expression, const Given* given)
    {
        if (given == nullptr)
            return expression;
        const auto& node = *expression;
        const auto found = given->find(node.kind == ExpressionKind::name ? node.name : node.symbol);
        if (found == given->end())
            return expression;
        if (node.kind == ExpressionKind::name)
            return found->second;
        ExpressionNode member = node;  // a member of the state that was passed
        member.symbol = found->second->kind == ExpressionKind::name ? found->second->name : std::string();
        return Expression(std::move(member));
    }

    Expression named(const Expression& expression, const Given* given)
    {
        auto result = meant(expression, given);
        const auto& node = *result;
        if (expression->kind == ExpressionKind::field && node.symbol.empty() && given != nullptr)
            fail(expression->position, "'" + expression->symbol + "' is given a value that has no fields",
                 "give it one of combine's operands: f(a)");
        const bool of_state =
            node.kind == ExpressionKind::field || (node.kind == ExpressionKind::name && in_finish_);
        const auto array = of_state ? shorthands_.state.find(node.name) : shorthands_.state.end();
        const bool is_local = node.kind == ExpressionKind::name && locals_.contains(node.name);
        if (array != shorthands_.state.end() || is_local)
            fail(expression->position, "'" + node.name + "' is an array",
                 "read one of its entries: " + (node.symbol.empty() ? "" : node.symbol + ".") + node.name +
                     "[0]");
        return result;
    }

    /// Expands `bins[i]` or `a.bins[i]` to an entry of a local array or of an array of the state. Leaves
    /// reads of tables unchanged.
    Expression entry(const Expression& expression, const Given* given)
    {
        ExpressionNode node = *expression;
        node.arguments[0] = walk(node.arguments[0], given);
        if (given != nullptr && node.symbol.empty()) {
            const auto whole = given->find(node.name);
            if (whole != given->end() && whole->second->kind != ExpressionKind::name &&
                whole->second->kind != ExpressionKind::field)
                fail(node.position, "'" + node.name + "' is given a value that has no entries",
                     "give it a table, or an array such as a.bins");
            if (whole != given->end()) {
                node.symbol = whole->second->symbol;
                node.name = whole->second->name;
            }
        } else if (given != nullptr) {
            if (const auto owner = given->find(node.symbol); owner != given->end())
                node.symbol =
                    owner->second->kind == ExpressionKind::name ? owner->second->name : std::string();
        }
        if (const auto local = locals_.find(node.name); local != locals_.end() && node.symbol.empty())
            return entry_of_local(node, local->second);
        const auto array = shorthands_.state.find(node.name);
        if (!node.symbol.empty() && array == shorthands_.state.end())
            refuse_entry(node);
        const bool is_table =
            std::ranges::find(op_.parameters, node.name, &Parameter::name) != op_.parameters.end();
        if (array == shorthands_.state.end() || (is_table && !in_finish_ && node.symbol.empty()))
            return made(std::move(node));
        if (node.symbol.empty() && !in_finish_)
            fail(node.position, "'" + node.name + "' is not known here",
                 !operands_.empty() ? fmt::format("write {0}.{3}[...] or {1}.{3}[...], of {2}", operands_[0],
                                                  operands_[1], operands_[2], node.name)
                                    : "it is an array of the state, which combine and finish know");
        return choose(node, array->second, [&](std::int64_t index) {
            ExpressionNode field;
            field.kind = node.symbol.empty() ? ExpressionKind::name : ExpressionKind::field;
            field.name = entry_name(node.name, index);
            field.symbol = node.symbol;
            field.position = node.position;
            return made(std::move(field));
        });
    }

    [[noreturn]] void refuse_entry(const ExpressionNode& node) const
    {
        if (unread_.declared.contains(node.name) || unread_.parts)
            throw Silence();
        const bool is_field = std::ranges::find(op_.state, node.name, &StateField::name) != op_.state.end();
        std::vector<std::string_view> arrays;
        for (const auto& [name, size] : shorthands_.state)
            arrays.push_back(name);
        fail(node.position, "'" + node.name + "' is not an array" + did_you_mean(node.name, arrays),
             is_field ? "it is a field: " + node.symbol + "." + node.name
                      : "declare it in the state: " + node.name + ": i32[8] = 0");
    }

    Expression entry_of_local(const ExpressionNode& node, const std::set<std::int64_t>& indices)
    {
        const auto size = *indices.rbegin() + 1;
        if (const auto index = constant_value(node.arguments[0]); index && !indices.contains(*index))
            fail(node.position, "'" + node.name + "' has no entry " + std::to_string(*index) + " yet",
                 "bind it above: let " + node.name + "[" + std::to_string(*index) + "] = ...");
        if (static_cast<std::int64_t>(indices.size()) != size)
            if (!constant_value(node.arguments[0]))
                fail(node.position, "'" + node.name + "' has gaps, so its index must be a number",
                     "bind every entry from 0 on");
        return choose(node, size, [&](std::int64_t index) {
            return made(*make_name(entry_name(node.name, index), node.position));
        });
    }

    /// Returns the entry at a constant index. For a computed index, returns a choice among all entries.
    template <class Entry>
    Expression choose(const ExpressionNode& node, std::int64_t size, const Entry& entry)
    {
        const auto& index = node.arguments[0];
        if (const auto known = constant_value(index)) {
            check_index(node.name, *known, size, index->position);
            return entry(*known);
        }
        auto result = entry(size - 1);
        for (std::int64_t i = size - 1; i-- > 0;) {
            ExpressionNode is_chosen = *make_binary("==", index, Expression(i), index->position);
            is_chosen.name = kChoosesEntry;
            result = made(*make_conditional(made(std::move(is_chosen)), entry(i), result, node.position));
        }
        return result;
    }

    Expression call(const OwnFunction& definition, const Expression& expression, const Given* given)
    {
        const auto& node = *expression;
        if (std::ranges::find(open_, &definition) != open_.end())
            fail(node.position, "'" + definition.name + "' calls itself",
                 "a def is written out where it is called, so it cannot");
        if (node.arguments.size() != definition.arguments.size())
            fail(node.position, definition.name + " takes " + std::to_string(definition.arguments.size()) +
                                    (definition.arguments.size() == 1 ? " argument" : " arguments") +
                                    ", found " + std::to_string(node.arguments.size()));
        Given arguments;
        for (std::size_t i = 0; i < node.arguments.size(); ++i) {
            const auto& argument = node.arguments[i];
            const bool is_bare =
                argument->kind == ExpressionKind::name || argument->kind == ExpressionKind::field;
            arguments.emplace(definition.arguments[i],
                              is_bare ? meant(argument, given) : walk(argument, given));
        }
        open_.push_back(&definition);
        auto result = walk(definition.value, &arguments);
        open_.pop_back();
        return result;
    }

    Operator& op_;
    const Shorthands& shorthands_;
    Unread& unread_;
    Complaints& complaints_;
    std::map<std::string, std::set<std::int64_t>, std::less<>> locals_;  ///< arrays made by `let`
    std::vector<const OwnFunction*> open_;  ///< functions that are being expanded
    std::vector<std::string> operands_;     ///< names of the part's two states, then a phrase that names both
    bool in_finish_ = false;
    int made_ = 0;
};

}  // namespace

std::string entry_name(const std::string& array, std::int64_t index)
{
    return array + "_" + std::to_string(index);
}

Expression make_counter(std::int64_t value) { return marked(*Expression(value), {}); }

std::optional<std::int64_t> constant_value(const Expression& expression)
{
    const auto& node = *expression;
    if (node.kind == ExpressionKind::integer) {
        if (node.magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return std::nullopt;
        const auto magnitude = static_cast<std::int64_t>(node.magnitude);
        return node.negative ? -magnitude : magnitude;
    }
    if (node.kind != ExpressionKind::unary && node.kind != ExpressionKind::binary)
        return std::nullopt;
    const auto left = constant_value(node.arguments[0]);
    if (!left)
        return std::nullopt;
    if (node.kind == ExpressionKind::unary)
        return node.symbol == "-"   ? apply("-", 0, *left)
               : node.symbol == "~" ? std::optional(~*left)
                                    : std::nullopt;
    const auto right = constant_value(node.arguments[1]);
    return right ? apply(node.symbol, *left, *right) : std::nullopt;
}

void expand(Operator& op, const Shorthands& shorthands, Unread& unread, Complaints& complaints)
{
    Expander(op, shorthands, unread, complaints).run();
}

}  // namespace segfold
