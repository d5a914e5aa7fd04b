#include "tests/fuzz/find_fault.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/message/complaints.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"

namespace segfold {
namespace {

constexpr std::int64_t kRows = 4;
constexpr std::size_t kLongestMessage = 4096 * (kMostComplaints + 1);

std::string fault_of_message(const std::string& message)
{
    if (message.empty() || message.size() > kLongestMessage)
        return "a message of " + std::to_string(message.size()) + " bytes";
    for (std::string_view rest = message; !rest.empty();) {
        const auto length = utf8_length(rest);
        if (length == 0)
            return "a message that is not UTF-8: " + message;
        rest.remove_prefix(length);
    }
    return "";
}

/// Runs every program of the operator; tables may be read outside of their length, nothing else may go wrong.
template <class Real>
void run(const Operator& op)
{
    const auto bytecode = compile_bytecode(op);
    // Bytes that are edge values of most types: zeros, ones, and mixtures of both.
    std::vector<std::uint64_t> data;
    for (std::int64_t i = 0; i < kRows; ++i)
        data.push_back(0x00'01'7f'80'ff'7c'3f'c0ull * static_cast<std::uint64_t>(i) * 0x0101ull);
    const std::vector<TableView> tables(bytecode.tables.size(), {data.data(), kRows});
    const std::vector<const void*> columns(bytecode.columns.size(), data.data());
    Evaluator<Real> evaluator(bytecode, tables);
    std::vector<Slot<Real>> total(evaluator.state_fields()), next(total), result(evaluator.result_fields());
    try {
        if (bytecode.has_identity)
            evaluator.identity(total.data());
        for (std::int64_t i = 0; i < kRows; ++i) {
            evaluator.lift(columns, i, i, 0, next.data());
            if (i == 0 && !bytecode.has_identity)
                total = next;
            else
                evaluator.combine(total.data(), next.data(), total.data());
        }
        evaluator.finish(total.data(), 0, kRows, result.data());
        if (bytecode.has_empty)
            evaluator.empty(1, result.data());
    } catch (const InputError&) {}
}

std::string fault_of_operator(const Operator& op)
{
    const auto text = print(op);
    try {
        const auto again = parse_operator("printed", text);
        if (!same(op, again))
            return "printed\n" + text + "read as\n" + print(again);
        if (print(again) != text)
            return "printed\n" + text + "then\n" + print(again);
        if (!same(check(op), op))
            return "checking again changes\n" + text;
    } catch (const Error& error) {
        return "printed\n" + text + error.what();
    }
    run<double>(op);
    run<long double>(op);
    return "";
}

std::string fault_of_expression(const Expression& expression)
{
    const auto text = print(expression);
    try {
        const auto again = parse_expression("printed", text);
        return same(expression, again) ? "" : "printed " + text + " read as " + print(again);
    } catch (const Error& error) {
        return "printed " + text + "\n" + error.what();
    }
}

}  // namespace

std::string find_fault(const std::string& text)
{
    std::optional<Operator> op;
    try {
        op = parse_operator("text", text, Type::f32);
    } catch (const SpecError& error) {
        if (auto fault = fault_of_message(error.what()); !fault.empty())
            return fault;
    }
    if (op)
        return fault_of_operator(*op);
    std::optional<Expression> expression;
    try {
        expression = parse_expression("text", text);
    } catch (const SpecError& error) {
        return fault_of_message(error.what());
    }
    return fault_of_expression(*expression);
}

}  // namespace segfold
