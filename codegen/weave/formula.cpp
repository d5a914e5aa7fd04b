#include "codegen/weave/formula.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/expression.h"
#include "dsl/message/suggest.h"
#include "dsl/text/parser.h"

namespace segfold {
namespace {

enum class Step : std::uint8_t {
    number,
    name,
    fault,
    conditional,
    logical_not,
    complement,
    minus,
    logical_and,
    logical_or,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    equal,
    unequal,
    less,
    at_most,
    greater,
    at_least,
    shift_left,
    shift_right,
    least,
    greatest,
    ceil_div,
};

using NamedStep = std::pair<std::string_view, Step>;
constexpr NamedStep kBinary[] = {
    {"&&", Step::logical_and}, {"||", Step::logical_or}, {"+", Step::add},         {"-", Step::subtract},
    {"*", Step::multiply},     {"/", Step::divide},      {"%", Step::remainder},   {"==", Step::equal},
    {"!=", Step::unequal},     {"<", Step::less},        {"<=", Step::at_most},    {">", Step::greater},
    {">=", Step::at_least},    {"<<", Step::shift_left}, {">>", Step::shift_right}};
constexpr NamedStep kCalls[] = {{"min", Step::least}, {"max", Step::greatest}, {"ceil_div", Step::ceil_div}};

template <std::size_t count>
std::optional<Step> step_called(std::string_view word, const NamedStep (&known)[count])
{
    const auto* const found = std::ranges::find(known, word, &NamedStep::first);
    return found == std::end(known) ? std::nullopt : std::optional(found->second);
}

struct Node {
    Step step = Step::number;
    std::uint32_t arguments[3] = {};  ///< indices into Compiled::nodes
    std::int64_t number = 0;          ///< the number, or the index in Compiled of the name or fault
};

}  // namespace

/// A formula as an array of nodes with numbered names, for quick evaluation. Speed matters because each
/// choice of a stage evaluates the formulas of all stages.
struct Formula::Compiled {
    std::vector<Node> nodes;  ///< the root is the last one
    std::vector<FormulaName> names;
    std::vector<std::string> faults;  ///< messages of the `fault` nodes, whose evaluation throws

    explicit Compiled(const Expression& expression) { add(expression); }

private:
    /// Adds an expression. Returns the index of its node.
    std::uint32_t add(const Expression& expression)
    {
        const auto& tree = *expression;
        auto node = node_of(tree);
        for (std::size_t i = 0; i < tree.arguments.size(); ++i) {
            const auto place = add(tree.arguments[i]);
            if (node.step != Step::fault)
                node.arguments[i] = place;
        }
        nodes.push_back(node);
        return static_cast<std::uint32_t>(nodes.size() - 1);
    }

    Node node_of(const ExpressionNode& tree)
    {
        switch (tree.kind) {
            case ExpressionKind::boolean:
                return {Step::number, {}, static_cast<std::int64_t>(tree.magnitude)};
            case ExpressionKind::integer: {
                if (tree.magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                    return fault("a number is beyond 64 bits");
                const auto magnitude = static_cast<std::int64_t>(tree.magnitude);
                return {Step::number, {}, tree.negative ? -magnitude : magnitude};
            }
            case ExpressionKind::name:
                names.emplace_back(tree.name);
                return {Step::name, {}, std::ssize(names) - 1};
            case ExpressionKind::unary:
                return {tree.symbol == "!"   ? Step::logical_not
                        : tree.symbol == "-" ? Step::minus
                                             : Step::complement};
            case ExpressionKind::conditional: return {Step::conditional};
            case ExpressionKind::binary:
                if (const auto step = step_called(tree.symbol, kBinary))
                    return {*step};
                return fault("'" + tree.symbol + "' has no place here");
            case ExpressionKind::call:
                if (tree.arguments.size() != 2)
                    return fault(tree.name + " takes 2 arguments");
                if (const auto step = step_called(tree.name, kCalls))
                    return {*step};
                return fault("unknown function '" + tree.name + "'; the functions are ceil_div, min and max");
            default: return fault("only integers, names, operators, min, max and ceil_div are allowed");
        }
    }

    Node fault(std::string message)
    {
        faults.push_back(std::move(message));
        return {Step::fault, {}, std::ssize(faults) - 1};
    }
};

class Formula::Evaluation {
public:
    Evaluation(const Formula& formula, const FormulaNames& names)
        : formula_(formula), compiled_(*formula.compiled_), names_(names)
    {}

    [[nodiscard]] std::int64_t value() const { return value(compiled_.nodes.back()); }

private:
    [[noreturn]] void fail(const std::string& message) const
    {
        throw SpecError(formula_.place_ + ": in '" + formula_.text_ + "': " + message);
    }

    [[nodiscard]] std::int64_t argument(const Node& node, std::size_t i) const
    {
        return value(compiled_.nodes[node.arguments[i]]);
    }

    [[nodiscard]] std::int64_t value(const Node& node) const
    {
        switch (node.step) {
            case Step::number: return node.number;
            case Step::name: return named(compiled_.names[static_cast<std::size_t>(node.number)]);
            case Step::fault: fail(compiled_.faults[static_cast<std::size_t>(node.number)]);
            case Step::conditional: return argument(node, argument(node, 0) != 0 ? 1 : 2);
            case Step::logical_not: return argument(node, 0) == 0;
            case Step::complement: return ~argument(node, 0);
            case Step::minus: return arithmetic(Step::subtract, 0, argument(node, 0));
            case Step::logical_and: return argument(node, 0) != 0 && argument(node, 1) != 0;
            case Step::logical_or: return argument(node, 0) != 0 || argument(node, 1) != 0;
            default: return binary(node.step, argument(node, 0), argument(node, 1));
        }
    }

    [[nodiscard]] std::int64_t named(FormulaName name) const
    {
        if (const auto* value = names_.find(name))
            return *value;
        fail("unknown name '" + name.text() + "'" + did_you_mean(name.text(), names_.names()));
    }

    [[nodiscard]] std::int64_t arithmetic(Step step, std::int64_t x, std::int64_t y) const
    {
        std::int64_t result = 0;
        const bool overflows = step == Step::add        ? __builtin_add_overflow(x, y, &result)
                               : step == Step::subtract ? __builtin_sub_overflow(x, y, &result)
                                                        : __builtin_mul_overflow(x, y, &result);
        if (overflows)
            fail(std::to_string(x) + " " +
                 std::string(std::ranges::find(kBinary, step, &NamedStep::second)->first) + " " +
                 std::to_string(y) + " is beyond 64 bits");
        return result;
    }

    [[nodiscard]] std::int64_t binary(Step step, std::int64_t x, std::int64_t y) const
    {
        if ((step == Step::divide || step == Step::remainder) && y == 0)
            fail("division by zero");
        if (step == Step::ceil_div && y <= 0)
            fail("ceil_div by " + std::to_string(y));
        switch (step) {
            case Step::divide: return y == -1 ? arithmetic(Step::subtract, 0, x) : x / y;
            case Step::remainder: return y == -1 ? 0 : x % y;
            case Step::equal: return x == y;
            case Step::unequal: return x != y;
            case Step::less: return x < y;
            case Step::at_most: return x <= y;
            case Step::greater: return x > y;
            case Step::at_least: return x >= y;
            case Step::shift_left:
                return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << (y & 63));
            case Step::shift_right: return x >> (y & 63);
            case Step::least: return std::min(x, y);
            case Step::greatest: return std::max(x, y);
            case Step::ceil_div: return x / y + (x % y > 0 ? 1 : 0);
            default: return arithmetic(step, x, y);
        }
    }

    const Formula& formula_;
    const Compiled& compiled_;
    const FormulaNames& names_;
};

namespace {

/// Parses the formula at `place` in a stage's file. The parser counts columns from the beginning of the
/// formula, not of the line. So an error's message names only the line. Its excerpt shows the column.
Expression read(const std::string& place, const std::string& text)
{
    try {
        return parse_expression(place, text);
    } catch (const SpecError& error) {
        const std::string message = error.what();
        const auto begin = place.size() + std::string_view(":1:").size();
        const auto end = message.find_first_not_of("0123456789", begin);
        if (!message.starts_with(place + ":1:") || end == std::string::npos)
            throw;
        throw SpecError(place + message.substr(end));
    }
}

}  // namespace

Formula::Formula(std::string place, const std::string& text)
    : place_(std::move(place)), text_(text), compiled_(std::make_shared<const Compiled>(read(place_, text)))
{}

bool Formula::is_over(const FormulaNames& names) const
{
    return std::ranges::all_of(compiled_->names, [&](FormulaName name) { return names.contains(name); });
}

FormulaNames with_sizes(FormulaNames names, const std::vector<Size>& sizes)
{
    for (const auto& [name, formula] : sizes)
        names[name] = formula.value(names);
    return names;
}

std::int64_t Formula::value(const FormulaNames& names) const { return Evaluation(*this, names).value(); }

}  // namespace segfold
