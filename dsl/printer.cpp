#include "dsl/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/message/visible.h"

namespace segfold {
namespace {

constexpr int kUnaryLevel = 11;
constexpr int kPrimaryLevel = 12;

/// Prints trees so that the parser reads the same tree again. A left operand gets parentheses if it binds
/// less tightly than the operator; a right operand also if it binds equally.
class Printer {
public:
    explicit Printer(const Operator* op)
        : op_(op), earlier_(op ? op->earlier : "a"), later_(op ? op->later : "b")
    {}
    /// Prints the two states by the given names.
    Printer(const Operator* op, std::string earlier, std::string later)
        : op_(op), earlier_(std::move(earlier)), later_(std::move(later))
    {}

    [[nodiscard]] std::string expression(const Expression& expression, int loosest = 0) const
    {
        const auto text = unparenthesised(expression);
        return level(*expression) < loosest ? "(" + text + ")" : text;
    }

    [[nodiscard]] std::string block(const Block& block, bool shorthand) const
    {
        if (shorthand && block.lets.empty() && block.assignments.size() == 1)
            return expression(block.assignments[0].value);
        std::string text;
        for (const auto& let : block.lets)
            text += "    let " + let.name + " = " + expression(let.value) + ";\n";
        for (const auto& assignment : block.assignments)
            text += "    " + assignment.field + " = " + expression(assignment.value) + ";\n";
        return "{\n" + text + "  }";
    }

private:
    static int level(const ExpressionNode& node)
    {
        switch (node.kind) {
            case ExpressionKind::conditional: return 0;
            case ExpressionKind::binary: return precedence(node.symbol);
            case ExpressionKind::unary: return kUnaryLevel;
            case ExpressionKind::integer: return node.negative ? kUnaryLevel : kPrimaryLevel;
            case ExpressionKind::real: return std::signbit(node.real) ? kUnaryLevel : kPrimaryLevel;
            default: return kPrimaryLevel;
        }
    }

    [[nodiscard]] std::string unparenthesised(const Expression& expression) const
    {
        const auto& node = *expression;
        switch (node.kind) {
            case ExpressionKind::boolean: return node.magnitude ? "true" : "false";
            case ExpressionKind::integer: return (node.negative ? "-" : "") + std::to_string(node.magnitude);
            case ExpressionKind::real: return print_real(node.real, node.rest);
            case ExpressionKind::constant:
            case ExpressionKind::name: return node.name;
            case ExpressionKind::limit: return node.name + "(" + std::string(name(*node.type)) + ")";
            case ExpressionKind::field: return field(node);
            case ExpressionKind::unary: return unary(node);
            case ExpressionKind::binary: return binary(node);
            case ExpressionKind::conditional:
                return this->expression(node.arguments[0], 1) + " ? " + this->expression(node.arguments[1]) +
                       " : " + this->expression(node.arguments[2]);
            case ExpressionKind::call: return node.name + "(" + list(node.arguments) + ")";
            case ExpressionKind::convert:
                return std::string(name(*node.type)) + "(" + list(node.arguments) + ")";
            case ExpressionKind::gather:
                if (is_scalar(node.name))
                    return node.name;
                return (node.symbol.empty() ? "" : node.symbol + ".") + node.name + "[" +
                       list(node.arguments) + "]";
        }
        throw InternalError("unknown kind of expression");
    }

    [[nodiscard]] bool is_scalar(const std::string& name) const
    {
        return op_ != nullptr && std::ranges::any_of(op_->parameters, [&](const Parameter& parameter) {
                   return parameter.scalar && parameter.name == name;
               });
    }

    [[nodiscard]] std::string field(const ExpressionNode& node) const
    {
        if (!node.symbol.empty())  // the operand is not resolved yet
            return node.symbol + "." + node.name;
        if (node.operand == Operand::state)
            return node.name;
        const auto& owner = node.operand == Operand::earlier ? earlier_ : later_;
        return op_ && op_->state.size() == 1 ? owner : owner + "." + node.name;
    }

    /// Puts parentheses between two minus signs, because C would read `--`.
    [[nodiscard]] std::string unary(const ExpressionNode& node) const
    {
        const auto argument = expression(node.arguments[0], kUnaryLevel);
        const bool joins = node.symbol == "-" && argument.starts_with('-');
        return node.symbol + (joins ? "(" + argument + ")" : argument);
    }

    [[nodiscard]] std::string binary(const ExpressionNode& node) const
    {
        const int own = precedence(node.symbol);
        return expression(node.arguments[0], own) + " " + node.symbol + " " +
               expression(node.arguments[1], own + 1);
    }

    [[nodiscard]] std::string list(const std::vector<Expression>& items) const
    {
        std::string text;
        for (const auto& item : items)
            text += (text.empty() ? "" : ", ") + expression(item);
        return text;
    }

    const Operator* op_;
    std::string earlier_, later_;
};

/// Prints a description as comments that the lexer accepts. A description from C++ may have control
/// characters.
std::string print_description(std::string_view rest)
{
    std::string text;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        auto line = rest.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        text += "# ";
        for (auto tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
            text += visible(line.substr(0, tab)) + '\t';
            line.remove_prefix(tab + 1);
        }
        text += visible(line) + '\n';
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return text;
}

std::string print_parameters(const Operator& op)
{
    std::string text;
    for (const auto& parameter : op.parameters)
        text += fmt::format("{}{}: {}{}{}", text.empty() ? "" : ", ", parameter.name,
                            parameter.scalar  ? "scalar "
                            : parameter.table ? "table "
                                              : "",
                            parameter.row ? "row " : "", name(parameter.type));
    return text;
}

}  // namespace

std::string results_text(const Operator& op)
{
    const auto num_results = op.keeps_results ? op.results.size() : 0;
    const auto fields = returned_fields(op);
    if (fields.size() == 1 && fields[0].name == kResultName)
        return (num_results == 0 ? "each " : "") + std::string(name(fields[0].type));
    std::string text;
    for (std::size_t i = 0; i < fields.size(); ++i)
        text += fmt::format("{}{}{}: {}", text.empty() ? "(" : ", ", i < num_results ? "" : "each ",
                            fields[i].name, name(fields[i].type));
    return text + ")";
}

namespace {

std::string print_state(const Operator& op, const Printer& printer)
{
    std::string text;
    for (const auto& field : op.state) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", field.name, name(field.type));
        if (field.identity)
            text += " = " + printer.expression(*field.identity);
    }
    return op.state.size() == 1 ? text : "{ " + text + " }";
}

std::string print_laws(const Laws& laws)
{
    if (laws.commutative && laws.idempotent)
        return "commutative, idempotent";
    return laws.commutative ? "commutative" : laws.idempotent ? "idempotent" : "";
}

/// Prints a number that lies at the midpoint of two doubles or just beside it. Prints all digits of the
/// midpoint, and one digit more if the number lies beside it.
std::string all_digits(NearReal number)
{
    constexpr std::size_t kEnough = 24;  // changing the last of these digits changes no double
    const auto text = fmt::format("{:.766e}", std::fabs(number.real));
    const auto exponent = text.find('e');
    auto digits = text.substr(0, exponent);
    const auto end = digits.find_last_not_of('0') + 1;
    digits.erase(number.rest == 0 ? std::max(end, std::size_t{3}) : std::max(end, kEnough) + 1);
    const bool is_negative = std::signbit(number.real);
    auto last = digits.size() - 1;
    if (number.rest != 0 && (number.rest > 0) != is_negative)
        digits[last] = '1';
    for (bool borrows = number.rest != 0 && (number.rest < 0) != is_negative; borrows; --last)
        if (digits[last] != '.') {
            borrows = digits[last] == '0';
            digits[last] = borrows ? '9' : static_cast<char>(digits[last] - 1);
        }
    return (is_negative ? "-" : "") + digits + (text.substr(exponent) == "e+00" ? "" : text.substr(exponent));
}

}  // namespace

std::string print_real(double value, int rest)
{
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos)
        text += ".0";
    const NearReal number{value, rest};
    return near_decimal(text, value) == number ? text : all_digits(number);
}

std::string print(const Expression& expression, const Operator* op)
{
    return Printer(op).expression(expression);
}

std::string print(const Operator& op)
{
    const Printer printer(&op);
    const bool one_field = op.state.size() == 1;
    std::string text = print_description(op.description);
    text += fmt::format("operator {}({}) -> {} {{\n", op.name, print_parameters(op), results_text(op));
    text += "  state " + print_state(op, printer) + "\n";
    text += "  lift " + printer.block(op.lift, one_field) + "\n";
    text += fmt::format("  combine({}, {}) {}\n", op.earlier, op.later, printer.block(op.combine, one_field));
    if (op.append)
        text += fmt::format("  append({}) {}\n", op.earlier, printer.block(*op.append, one_field));
    const bool one_result = op.results.size() == 1;
    if (op.finish)
        text += "  finish " + printer.block(*op.finish, one_result) + "\n";
    if (op.empty)
        text += "  empty " + printer.block(*op.empty, one_result) + "\n";
    if (op.map)
        text += "  map " + printer.block(*op.map, op.outputs.size() == 1) + "\n";
    if (op.scan)
        text += fmt::format(
            "  scan{}({}, {}) {}\n", op.scan->reverse ? " reverse" : "", op.scan->before, op.scan->through,
            Printer(&op, op.scan->before, op.scan->through).block(op.scan->block, op.outputs.size() == 1));
    if (const auto laws = print_laws(op.laws); !laws.empty())
        text += "  laws " + laws + "\n";
    return text + "}\n";
}

}  // namespace segfold
