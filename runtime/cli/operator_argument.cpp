#include "runtime/cli/operator_argument.h"

#include <fmt/format.h>

#include <filesystem>

#include "dsl/error.h"
#include "dsl/parser.h"
#include "dsl/standard_operators.h"
#include "dsl/suggest.h"
#include "runtime/files/file.h"

namespace segfold::cli {
namespace {

constexpr std::string_view kCompanions[] = {"identity", "lift", "finish", "commutative"};
constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;

void check_size(const std::string& where, std::uint64_t bytes)
{
    if (bytes > kMostTextBytes)
        throw InputError(
            fmt::format("{}: the text has {} bytes; an operator may have {}", where, bytes, kMostTextBytes));
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

bool is_file(const std::string& operand)
{
    if (operand.find('/') != std::string::npos || operand.ends_with(".seg"))
        return true;
    std::error_code ignored;
    return !is_standard_operator(operand) && std::filesystem::is_regular_file(operand, ignored);
}

std::string read_text(const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        throw InputError(path + ": no such file");
    const InputFile file(path);
    check_size(path, file.bytes());
    std::string text(file.bytes(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

bool uses_generic_type(const std::string& path, const std::string& text)
{
    try {
        parse_operator(path, text);
        return false;
    } catch (const SpecError&) {
        return true;  // or some other fault, which parsing with a type will find again
    }
}

Operator read_operator(const std::string& path, std::optional<Type> type)
{
    const auto text = read_text(path);
    if (type && !uses_generic_type(path, text))
        throw InputError(
            fmt::format("--type says {}, but {} names all its types; leave out --type, or write T for the "
                        "type to be chosen",
                        name(*type), path));
    return parse_operator(path, text, type);
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
    form.type = type.value_or(Type::f32);
    form.commutative = arguments.has("commutative");
    return parse_short_form(form);
}

/// The operator that one word of the operand names, or --op.
Operator single_operator(const Arguments& arguments, const std::string& operand)
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
    return is_file(operand) ? read_operator(operand, type) : standard_operator(operand, type);
}

}  // namespace

bool names_operator(const Arguments& arguments)
{
    return !arguments.operands().empty() || arguments.has("op");
}

Operator operator_argument(const Arguments& arguments)
{
    return single_operator(arguments, arguments.operands().empty() ? "" : arguments.operands()[0]);
}

std::vector<Operator> operator_arguments(const Arguments& arguments)
{
    std::vector<Operator> operators;
    const std::string list = arguments.operands().empty() ? "" : arguments.operands()[0];
    for (std::size_t at = 0; at <= list.size();) {
        const auto comma = std::min(list.find(',', at), list.size());
        if (comma == at && !list.empty())
            throw InputError(
                fmt::format("'{}': an operator's name is missing at a comma; write names such as "
                            "sum,argmax",
                            list));
        operators.push_back(single_operator(arguments, list.substr(at, comma - at)));
        at = comma + 1;
    }
    return operators;
}

std::string signature(const Operator& op)
{
    std::string text = op.name + "(";
    for (const auto& parameter : op.parameters)
        text += fmt::format("{}{}: {}{}", text.back() == '(' ? "" : ", ", parameter.name,
                            parameter.table ? "table " : "", name(parameter.type));
    text += ") -> ";
    if (op.results.size() == 1 && op.results[0].name == kResultName)
        return text + std::string(name(op.results[0].type));
    std::string results;
    for (const auto& field : op.results)
        results += fmt::format("{}{}: {}", results.empty() ? "" : ", ", field.name, name(field.type));
    return text + "(" + results + ")";
}

}  // namespace segfold::cli
