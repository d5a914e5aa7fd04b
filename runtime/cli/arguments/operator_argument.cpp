#include "runtime/cli/arguments/operator_argument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "dsl/check/warnings.h"
#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/cli/arguments/input_types.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/data/formats/operator_file.h"
#include "runtime/support/files/file.h"

namespace segfold::cli {
namespace {

constexpr std::string_view kCompanions[] = {"identity", "lift", "finish", "commutative"};

void check_size(const std::string& where, std::uint64_t bytes)
{
    if (bytes > kMostOperatorBytes)
        throw InputError(fmt::format("{}: the text has {} bytes; an operator may have {}", where, bytes,
                                     kMostOperatorBytes));
}

std::optional<Type> type_argument(const Arguments& arguments)
{
    const auto text = arguments.value("type");
    if (!text)
        return std::nullopt;
    if (const auto type = find_type(*text))
        return type;
    std::vector<std::string_view> names;
    for (const Type type : kTypes)
        names.push_back(name(type));
    throw InputError(fmt::format("--type: unknown type '{}'; the types are {}{}", *text,
                                 fmt::join(names, ", "), did_you_mean(*text, names)));
}

bool exists_as_file(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

/// Splits an operand such as "sum & max" into the names of the factors. File paths may contain '&'.
std::vector<std::string> factor_names(const std::string& operand)
{
    std::vector<std::string> names;
    const auto trimmed = [&](std::size_t begin, std::size_t end) {
        auto name = operand.substr(begin, end - begin);
        name.erase(0, name.find_first_not_of(' '));
        name.erase(name.find_last_not_of(' ') + 1);
        return name;
    };
    for (std::size_t at = 0; at <= operand.size();) {
        const auto first = std::min(operand.find('&', at), operand.size());
        auto end = operand.size();
        while (end > first && !exists_as_file(trimmed(at, end)))
            end = operand.rfind('&', end - 1);
        names.push_back(trimmed(at, end));
        at = end + 1;
    }
    return names;
}

bool is_file(const std::string& operand)
{
    if (operand.find('/') != std::string::npos || operand.ends_with(".seg"))
        return true;
    return !is_standard_operator(operand) && exists_as_file(operand);
}

bool uses_generic_type(const std::string& path, const std::string& text)
{
    try {
        parse_operator(path, text);
        return false;
    } catch (const SpecError&) {
        return true;  // parsing the text again, with a type, reports any other error in it
    }
}

/// True if the expression adds, subtracts or multiplies numbers of `type`, and `type` has only 8 or 16 bits.
/// Such integers wrap early, and sums of such floats soon stop growing.
bool computes_narrowly(const Expression& expression, Type type)
{
    const auto& node = *expression;
    const bool computes = node.kind == ExpressionKind::binary &&
                          (node.symbol == "+" || node.symbol == "-" || node.symbol == "*");
    return (computes && node.type == type && type != Type::boolean && size_bytes(type) < 4) ||
           std::ranges::any_of(node.arguments,
                               [type](const auto& argument) { return computes_narrowly(argument, type); });
}

/// Returns a text that says how sums and products in `type` go wrong, and which NumPy type avoids this.
std::string_view advice_on(Type type)
{
    return is_integer(type) ? "may wrap; save it with array.astype(numpy.int64) to compute in i64"
                            : "rounds after each operation, and is infinite beyond 65504; save it with "
                              "array.astype(numpy.float32) to compute in f32, or write an operator whose "
                              "state is f32, with 'lift f32(x)'";
}

/// Calls `make(TYPE, FILE)` and returns its operator. TYPE is the type T determined by the input file FILE,
/// or nothing if no input determines T.
template <class Make>
Operator with_input_type(const Arguments& arguments, const std::string& name,
                         const std::vector<DeclaredParameter>& parameters, const Make& make)
{
    const auto found = type_of_inputs(arguments, name, parameters);
    if (!found)
        return make(std::nullopt, "");
    for (std::size_t i = 0; i + 1 < found->candidates.size(); ++i)
        try {
            return make(found->candidates[i], found->file);
        } catch (const Error&) {
            continue;
        }
    const Type type = found->candidates.back();
    auto op = make(type, found->file);
    if (std::ranges::any_of(op.combine.assignments,
                            [type](const auto& a) { return computes_narrowly(a.value, type); }))
        write_error(fmt::format("warning: {} holds {}, so {} is computed in {} and {}", found->file,
                                segfold::name(type), op.name, segfold::name(type), advice_on(type)));
    return op;
}

/// Reads an operator file. If `is_factor` is true and the file states all types, ignores --type, which is
/// then meant for other factors of the product.
Operator read_operator(const Arguments& arguments, const std::string& path, std::optional<Type> type,
                       bool is_factor)
{
    const auto text = read_operator_text(path);
    const bool is_generic = uses_generic_type(path, text);
    if (type && !is_generic && !is_factor)
        throw InputError(
            fmt::format("--type says {}, but {} names all its types; leave out --type, or write T for the "
                        "type to be chosen",
                        name(*type), path));
    if (!is_generic)
        return parse_operator(path, text);
    if (type)
        return parse_operator(path, text, type);
    std::vector<DeclaredParameter> parameters;
    try {
        parameters = declared_parameters(path, text);
    } catch (const SpecError&) {
        return parse_operator(path, text);  // parses again, only to throw an error with the exact cause
    }
    return with_input_type(
        arguments, std::filesystem::path(path).stem(), parameters,
        [&](std::optional<Type> found, const std::string&) { return parse_operator(path, text, found); });
}

/// Returns a standard operator for `type`. Without a type, uses the type of its inputs.
Operator find_standard_operator(const Arguments& arguments, const std::string& name, std::optional<Type> type)
{
    if (type)
        return standard_operator(name, type);
    return with_input_type(
        arguments, name, standard_parameters(name), [&](std::optional<Type> found, const std::string& file) {
            try {
                return standard_operator(name, found);
            } catch (const InputError& error) {
                if (!found)
                    throw;
                throw InputError(
                    fmt::format("{}: holds {}, but {}", file, segfold::name(*found), error.what()));
            }
        });
}

Operator short_form(const Arguments& arguments, std::optional<Type> type)
{
    ShortForm form;
    const auto take = [&](std::string_view flag, std::string& into) {
        const auto text = arguments.value(flag);
        if (!text)
            return;
        if (text->find_first_not_of(" \t\n") == std::string::npos)
            throw InputError(fmt::format("--{} is empty; give an expression, such as {}", flag,
                                         flag == "op"         ? "'a + b'"
                                         : flag == "identity" ? "0"
                                                              : "'x * x'"));
        check_size("--" + std::string(flag), text->size());
        into = *text;
    };
    take("op", form.combine);
    take("identity", form.identity);
    take("lift", form.lift);
    take("finish", form.finish);
    form.commutative = arguments.has("commutative");
    const auto make = [&](std::optional<Type> found, const std::string&) {
        form.type = found.value_or(Type::f32);
        return parse_short_form(form, {"--op", "--identity", "--lift", "--finish"});
    };
    return type ? make(type, "")
                : with_input_type(arguments, "expression", {{"x", std::nullopt, false}}, make);
}

/// Returns the operator given by --op or by one word of the operand. `is_factor` is true for a factor of a
/// product.
Operator single_operator(const Arguments& arguments, const std::string& operand, bool is_factor = false)
{
    const auto type = type_argument(arguments);
    if (arguments.has("op")) {
        if (!arguments.operands().empty())
            throw InputError(fmt::format("two operators are given, '{}' and --op '{}'; give one of them",
                                         arguments.operands()[0], *arguments.value("op")));
        return short_form(arguments, type);
    }
    for (const auto companion : kCompanions)
        arguments.refuse(companion, "is a part of an expression; it needs --op EXPRESSION beside it");
    if (arguments.operands().empty())
        throw InputError(
            fmt::format("{} needs an operator: a name ('segfold operators' lists them), a .seg file, or "
                        "--op EXPRESSION",
                        arguments.verb()));
    if (const auto names = factor_names(operand); names.size() > 1) {
        const bool takes_type = std::ranges::any_of(names, [](const std::string& name) {
            return !is_file(name) || uses_generic_type(name, read_operator_text(name));
        });
        if (type && !takes_type)
            throw InputError(fmt::format(
                "--type says {}, but the operators of '{}' name all their types; leave out --type",
                segfold::name(*type), operand));
        std::vector<Factor> factors;
        for (const auto& name : names) {
            if (name.empty())
                throw InputError(
                    fmt::format("'{}': an operator's name is missing at a '&'; write names such as "
                                "'mean_variance & argmax'",
                                operand));
            factors.push_back({single_operator(arguments, name, true)});
        }
        return product(std::move(factors));
    }
    if (operand.find(',') != operand.npos && !exists_as_file(operand))
        throw InputError(fmt::format(
            "'{}': {} takes one operator, and these are several with commas between them; bench and "
            "regress take such a list",
            operand, arguments.verb()));
    if (!is_file(operand) && !is_standard_operator(operand) && exists_as_file(operand + ".seg"))
        throw InputError(
            fmt::format("unknown operator '{0}'; a file {0}.seg is here: write {0}.seg", operand));
    return is_file(operand) ? read_operator(arguments, operand, type, is_factor)
                            : find_standard_operator(arguments, operand, type);
}

/// Returns the operator of the command line, and prints warnings about its text.
Operator warned_of(const Arguments& arguments, const std::string& operand)
{
    auto op = single_operator(arguments, operand);
    for (const auto& warning : warnings(op))  // the first line names the place and the problem
        write_error("warning: " + (arguments.declares("explain") && arguments.has("explain")
                                       ? warning
                                       : warning.substr(0, warning.find('\n'))));
    const auto form = scan_argument(arguments);
    return form ? scanned(std::move(op), *form) : op;
}

}  // namespace

bool names_operator(const Arguments& arguments)
{
    return !arguments.operands().empty() || arguments.has("op");
}

std::optional<ScanForm> scan_argument(const Arguments& arguments)
{
    if (!arguments.declares("exclusive"))
        return std::nullopt;
    const ScanForm form{arguments.has("exclusive"), arguments.has("reverse")};
    const bool is_asked =
        !arguments.declares("scan") || arguments.has("scan") || form.exclusive || form.reverse;
    return is_asked ? std::optional(form) : std::nullopt;
}

Operator operator_argument(const Arguments& arguments)
{
    return warned_of(arguments, arguments.operands().empty() ? "" : arguments.operands()[0]);
}

std::vector<Operator> operator_arguments(const Arguments& arguments)
{
    std::vector<Operator> operators;
    const auto list = fmt::format("{}", fmt::join(arguments.operands(), ","));
    if (list.find(',') != list.npos && arguments.declares("input"))
        arguments.refuse("input", "gives data to one operator, and several are named");
    for (std::size_t at = 0; at <= list.size();) {
        const auto comma = std::min(list.find(',', at), list.size());
        if (comma == at && !list.empty())
            throw InputError(
                fmt::format("'{}': an operator's name is missing at a comma; write names such as "
                            "sum,argmax",
                            list));
        operators.push_back(warned_of(arguments, list.substr(at, comma - at)));
        at = comma + 1;
    }
    return operators;
}

std::string own_name(const Operator& op, const std::string& word)
{
    return std::ranges::any_of(factor_names(word), is_file) ? op.name : word;
}

std::string signature(const Operator& op)
{
    std::string text = op.name + "(";
    for (const auto& parameter : op.parameters)
        text += fmt::format("{}{}: {}{}{}", text.back() == '(' ? "" : ", ", parameter.name,
                            parameter.scalar  ? "scalar "
                            : parameter.table ? "table "
                                              : "",
                            parameter.row ? "row " : "", name(parameter.type));
    text += ") -> ";
    return text + results_text(op);
}

}  // namespace segfold::cli
