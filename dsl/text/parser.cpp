#include "dsl/text/parser.h"

#include <limits>

#include "dsl/check/check.h"
#include "dsl/text/operator_parser.h"

namespace segfold {
namespace {

SourcePointer make_source(std::string name, std::string text)
{
    return std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
}

Operator read_operator(const SourcePointer& source, Tokens tokens, std::optional<Type> generic)
{
    Complaints complaints;
    OperatorParser parser(source, std::move(tokens), generic, complaints);
    Operator op;
    if (!complaints.attempt([&] { op = parser.whole_operator(); }))
        complaints.raise_if_any();
    if (!parser.uses().empty() && complaints.empty()) {
        if (!parser.first_part().empty() || !op.results.empty())
            throw placed_error(source, op.position,
                               "operator " + op.name + " has both 'use' and " +
                                   (parser.first_part().empty() ? "results of its own"
                                                                : "a " + parser.first_part() + " of its own"),
                               "state, parts, laws and results are those of the operators that it uses");
        return product_of_uses(op, parser.uses());
    }
    expand(op, parser.shorthands(), parser.unread(), complaints);
    op = check(std::move(op), parser.unread(), complaints);
    complaints.raise_if_any();
    return op;
}

}  // namespace

Operator parse_operator(std::string name, std::string text, std::optional<Type> generic)
{
    const auto source = make_source(name.empty() ? "operator" : std::move(name), std::move(text));
    return read_operator(source, tokenize(source), generic);
}

Operator parse_printed(std::string text)
{
    const auto source = make_source("printed", std::move(text));
    return read_operator(source, tokenize(source, std::numeric_limits<std::size_t>::max()), std::nullopt);
}

Expression parse_expression(std::string name, std::string text)
{
    const auto source = make_source(std::move(name), std::move(text));
    TokenCursor cursor(source, tokenize(source).tokens);
    auto result = ExpressionParser(cursor, std::nullopt).expression();
    cursor.expect_end();
    return result;
}

}  // namespace segfold
