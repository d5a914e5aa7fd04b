#include "codegen/weave/formula.h"

#include <limits>

#include "dsl/message/suggest.h"
#include "dsl/text/parser.h"

namespace segfold {
namespace {

class Evaluation {
public:
    Evaluation(const std::string& place, const std::string& text, const FormulaNames& names)
        : place_(place), text_(text), names_(names)
    {}

    [[nodiscard]] std::int64_t value(const Expression& expression) const
    {
        const auto& node = *expression;
        switch (node.kind) {
            case ExpressionKind::boolean: return static_cast<std::int64_t>(node.magnitude);
            case ExpressionKind::integer: return integer(node);
            case ExpressionKind::name: return named(node.name);
            case ExpressionKind::unary: {
                const auto x = value(node.arguments[0]);
                return node.symbol == "!" ? x == 0 : node.symbol == "-" ? arithmetic("-", 0, x) : ~x;
            }
            case ExpressionKind::conditional:
                return value(node.arguments[value(node.arguments[0]) != 0 ? 1 : 2]);
            case ExpressionKind::binary: return binary(node);
            case ExpressionKind::call: return call(node);
            default: fail("only integers, names, operators, min, max and ceil_div are allowed");
        }
    }

private:
    [[noreturn]] void fail(const std::string& message) const
    {
        throw SpecError(place_ + ": in '" + text_ + "': " + message);
    }

    [[nodiscard]] std::int64_t integer(const ExpressionNode& node) const
    {
        if (node.magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail("a number is beyond 64 bits");
        const auto magnitude = static_cast<std::int64_t>(node.magnitude);
        return node.negative ? -magnitude : magnitude;
    }

    [[nodiscard]] std::int64_t arithmetic(const std::string& symbol, std::int64_t x, std::int64_t y) const
    {
        std::int64_t result = 0;
        const bool overflows = symbol == "+"   ? __builtin_add_overflow(x, y, &result)
                               : symbol == "-" ? __builtin_sub_overflow(x, y, &result)
                                               : __builtin_mul_overflow(x, y, &result);
        if (overflows)
            fail(std::to_string(x) + " " + symbol + " " + std::to_string(y) + " is beyond 64 bits");
        return result;
    }

    [[nodiscard]] std::int64_t named(const std::string& name) const
    {
        const auto found = names_.find(name);
        if (found != names_.end())
            return found->second;
        std::vector<std::string_view> known;
        for (const auto& entry : names_)
            known.push_back(entry.first);
        fail("unknown name '" + name + "'" + did_you_mean(name, known));
    }

    [[nodiscard]] std::int64_t binary(const ExpressionNode& node) const
    {
        const auto& symbol = node.symbol;
        const auto x = value(node.arguments[0]);
        if (symbol == "&&")
            return x != 0 && value(node.arguments[1]) != 0;
        if (symbol == "||")
            return x != 0 || value(node.arguments[1]) != 0;
        const auto y = value(node.arguments[1]);
        if ((symbol == "/" || symbol == "%") && y == 0)
            fail("division by zero");
        if (symbol == "+" || symbol == "-" || symbol == "*")
            return arithmetic(symbol, x, y);
        if (symbol == "/")
            return y == -1 ? arithmetic("-", 0, x) : x / y;
        if (symbol == "%")
            return y == -1 ? 0 : x % y;
        if (symbol == "==")
            return x == y;
        if (symbol == "!=")
            return x != y;
        if (symbol == "<")
            return x < y;
        if (symbol == "<=")
            return x <= y;
        if (symbol == ">")
            return x > y;
        if (symbol == ">=")
            return x >= y;
        if (symbol == "<<")
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << (y & 63));
        if (symbol == ">>")
            return x >> (y & 63);
        fail("'" + symbol + "' has no place here");
    }

    [[nodiscard]] std::int64_t call(const ExpressionNode& node) const
    {
        if (node.arguments.size() != 2)
            fail(node.name + " takes 2 arguments");
        const auto x = value(node.arguments[0]);
        const auto y = value(node.arguments[1]);
        if (node.name == "min")
            return std::min(x, y);
        if (node.name == "max")
            return std::max(x, y);
        if (node.name != "ceil_div")
            fail("unknown function '" + node.name + "'; the functions are ceil_div, min and max");
        if (y <= 0)
            fail("ceil_div by " + std::to_string(y));
        return x / y + (x % y > 0 ? 1 : 0);
    }

    const std::string& place_;
    const std::string& text_;
    const FormulaNames& names_;
};

bool is_over_names(const Expression& expression, const FormulaNames& names)
{
    return (expression->kind != ExpressionKind::name || names.contains(expression->name)) &&
           std::ranges::all_of(expression->arguments,
                               [&](const auto& argument) { return is_over_names(argument, names); });
}

}  // namespace

namespace {

/// Reads the formula at `place` of a stage's file. The parser counts columns from the beginning of the
/// formula, not of the line. So the message names only the line, and its excerpt shows the column.
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

bool Formula::is_over(const FormulaNames& names) const { return is_over_names(expression_, names); }

Formula::Formula(std::string place, const std::string& text)
    : place_(std::move(place)), text_(text), expression_(read(place_, text))
{}

std::int64_t Formula::value(const FormulaNames& names) const
{
    return Evaluation(place_, text_, names).value(expression_);
}

}  // namespace segfold
