// Parses parameters, results, fields of the state, definitions and uses.
#include "dsl/text/operator_parser.h"

#include <algorithm>

#include "dsl/message/suggest.h"

namespace segfold {

Parameter OperatorParser::parameter()
{
    const Position position = cursor_.peek().position;
    auto parameter_name = cursor_.name("a parameter's name");
    if (find_type(parameter_name) && !cursor_.is(":"))
        cursor_.fail(position, "a parameter begins with its name, not with its type",
                     "write " + cursor_.peek().text + ": " + parameter_name);
    cursor_.expect(":");
    const bool scalar = cursor_.peek(1).kind == TokenKind::word && cursor_.accept("scalar");
    const bool table = scalar || cursor_.accept("table");
    const bool row = !scalar && cursor_.peek(1).kind == TokenKind::word && cursor_.accept("row");
    if (cursor_.is("Acc"))
        cursor_.fail(cursor_.peek().position, "'Acc' is no type of a parameter",
                     "write " + parameter_name + ": T; Acc is the type in which values of T are added up");
    Parameter made{std::move(parameter_name), expressions_.type(), table, position, scalar, row};
    if (cursor_.is("["))
        cursor_.fail(cursor_.peek().position, "a parameter has no size",
                     "a column has one value an element; a table of any length is declared as " + made.name +
                         ": table " + std::string(segfold::name(made.type)));
    return made;
}

std::optional<std::int64_t> OperatorParser::array_size()
{
    if (!cursor_.accept("["))
        return std::nullopt;
    const Position position = cursor_.peek().position;
    const auto size = constant_value(expressions_.expression());
    if (!size)
        cursor_.fail(position, "the size of an array is a number", "write i32[8], say");
    if (*size < 1 || *size > kMostEntries)
        cursor_.fail(position, "an array of " + std::to_string(*size) + " entries",
                     "arrays have 1 to " + std::to_string(kMostEntries));
    cursor_.expect("]");
    if (cursor_.is("["))
        cursor_.fail(cursor_.peek().position, "an array of arrays",
                     "an array has one size; write [4], say, and read m[2 * i + k]");
    return size;
}

void OperatorParser::results(Operator& op)
{
    if (!cursor_.accept("(")) {
        auto& fields = results_or_outputs(op);
        const Position position = cursor_.peek().position;
        fields.push_back({kResultName, expressions_.type(), position});
        return;
    }
    declarations([&] {
        auto& fields = results_or_outputs(op);
        const Position position = cursor_.peek().position;
        auto field = cursor_.name("a result's name");
        cursor_.expect(":");
        const Position before_type = cursor_.peek().position;
        const bool is_marked = cursor_.accept("each");
        const Type type = expressions_.type();
        if (is_marked)
            cursor_.fail(before_type, "'each' stands before the name of a result",
                         "write each " + field + ": " + std::string(name(type)));
        const auto size = array_size();
        if (size && &fields == &op.outputs)
            cursor_.fail(position, "an output has no size", "give each entry an output of its own");
        if (size)
            shorthands_.results.emplace(field, *size);
        for (std::int64_t k = 0; k < size.value_or(1); ++k)
            fields.push_back({size ? entry_name(field, k) : field, type, position});
    });
}

std::vector<ResultField>& OperatorParser::results_or_outputs(Operator& op)
{
    const bool is_output = cursor_.peek(1).kind == TokenKind::word && cursor_.accept("each");
    return is_output ? op.outputs : op.results;
}

void OperatorParser::state(Operator& op)
{
    const Position open = cursor_.peek().position;
    if (!cursor_.accept("{")) {
        state_field(op);
        const auto follows = [&] {
            const std::size_t next = cursor_.is(",") || cursor_.is(";") ? 1 : 0;
            return cursor_.peek(next).kind == TokenKind::word && !cursor_.at_part(next) &&
                   cursor_.is(":", next + 1);
        };
        if (follows())
            (void)complaints_.attempt([&] {
                cursor_.fail(open, "several fields of a state stand in braces",
                             "write state { " + op.state.front().name + ": ...; ... }");
            });
        while (follows()) {
            if (!cursor_.accept(","))
                (void)cursor_.accept(";");
            state_field(op);
        }
        return;
    }
    while (!cursor_.accept("}")) {
        if (cursor_.at_end() || begins_part())
            cursor_.fail(open, "this '{' is never closed", unclosed());
        const auto start = cursor_.place();
        const bool read = complaints_.attempt([&] {
            state_field(op);
            if (!cursor_.accept(";") && !cursor_.is("}"))
                cursor_.unexpected("';' or '}' after a state field");
        });
        if (read)
            continue;
        // Only the end of the previous field was faulty. A field that begins its own line can be read.
        if (!cursor_.begins_line() || !cursor_.is(":", 1))
            skip_declaration(start);
        if (cursor_.is("{"))
            skip_statement();
        if (cursor_.place() == start || cursor_.is(",") || cursor_.is(";") || cursor_.is(")"))
            cursor_.take();
    }
}

void OperatorParser::state_field(Operator& op)
{
    const Position position = cursor_.peek().position;
    auto field = cursor_.name("a state field's name");
    if (cursor_.is("="))
        cursor_.fail(position, "the state field '" + field + "' has no type",
                     "write " + field + ": f32 = ...");
    cursor_.expect(":");
    const Type type = expressions_.type();
    const auto size = array_size();
    if (size)
        shorthands_.state.emplace(field, *size);
    std::vector<Expression> identities;  // one for all entries, or one for each entry
    if (cursor_.accept("=")) {
        const Position list = cursor_.peek().position;
        if (!size && cursor_.is("["))
            cursor_.fail(list, "'" + field + "' is one field, and a list of identities belongs to an array",
                         "write " + field + ": " + std::string(segfold::name(type)) + "[2] = [0, 1], say");
        if (size && cursor_.accept("[")) {
            do
                identities.push_back(expressions_.expression());
            while (cursor_.accept(","));
            cursor_.expect("]");
            if (static_cast<std::int64_t>(identities.size()) != *size)
                cursor_.fail(list,
                             "'" + field + "' has " + std::to_string(*size) + " entries, and " +
                                 std::to_string(identities.size()) + " identities are listed",
                             "list one for each entry, or write one for all");
        } else {
            identities.assign(static_cast<std::size_t>(size.value_or(1)), expressions_.expression());
        }
    }
    for (std::int64_t k = 0; k < size.value_or(1); ++k)
        op.state.push_back(
            {size ? entry_name(field, k) : field, type,
             identities.empty() ? std::nullopt : std::optional(identities[static_cast<std::size_t>(k)]),
             position});
}

void OperatorParser::use()
{
    cursor_.take();
    Use made;
    made.position = cursor_.peek().position;
    made.name = cursor_.name("an operator's name");
    made.has_arguments = cursor_.accept("(");
    if (made.has_arguments) {
        do
            made.arguments.push_back(expressions_.expression());
        while (cursor_.accept(","));
        cursor_.expect(")");
    }
    if (cursor_.accept("as"))
        made.label = cursor_.name("a name after 'as'");
    cursor_.accept(";");
    uses_.push_back(std::move(made));
}

void OperatorParser::definition()
{
    cursor_.take();
    OwnFunction made;
    made.position = cursor_.peek().position;
    made.name = cursor_.name("a function's name");
    if (is_taken(made.name))
        cursor_.fail(
            made.position,
            "'" + made.name + "' has a meaning in the language and cannot be a function of your own");
    if (std::ranges::find(shorthands_.functions, made.name, &OwnFunction::name) !=
        shorthands_.functions.end())
        cursor_.fail(made.position, "function '" + made.name + "' is defined twice", "one is enough");
    shorthands_.unread.insert(made.name);
    cursor_.expect("(");
    if (!cursor_.accept(")")) {
        do {
            const Position position = cursor_.peek().position;
            auto argument = cursor_.name("an argument's name");
            if (is_taken(argument))
                cursor_.fail(position, "'" + argument +
                                           "' has a meaning in the language and cannot be a "
                                           "name of your own");
            if (std::ranges::find(made.arguments, argument) != made.arguments.end())
                cursor_.fail(position, "argument '" + argument + "' is named twice");
            if (cursor_.is(":"))
                cursor_.fail(cursor_.peek().position, "the arguments of a def have no types",
                             "it takes the types that it is called with: def " + made.name + "(" + argument +
                                 ") = ...");
            made.arguments.push_back(std::move(argument));
        } while (cursor_.accept(","));
        cursor_.expect(")");
    }
    if (cursor_.is("{"))
        cursor_.fail(cursor_.peek().position, "expected '=', found '{'",
                     "a def is one expression: def " + made.name + "(...) = ...");
    cursor_.expect("=");
    made.value = expressions_.expression();
    check_arguments(made, made.value);
    cursor_.accept(";");
    shorthands_.unread.erase(made.name);
    shorthands_.functions.push_back(std::move(made));
}

void OperatorParser::check_arguments(const OwnFunction& made, const Expression& value) const
{
    const auto& node = *value;
    const auto& name = node.symbol.empty() || node.kind == ExpressionKind::name ? node.name : node.symbol;
    const bool is_name = node.kind == ExpressionKind::name || node.kind == ExpressionKind::field ||
                         node.kind == ExpressionKind::gather;
    if (is_name && std::ranges::find(made.arguments, name) == made.arguments.end()) {
        std::string list;
        for (const auto& argument : made.arguments)
            list += (list.empty() ? "" : ", ") + argument;
        const std::vector<std::string_view> known(made.arguments.begin(), made.arguments.end());
        cursor_.fail(node.position, "unknown name '" + name + "'; " +
                                        (list.empty() ? "this def has no arguments"
                                                      : "a def knows its arguments alone: " + list) +
                                        did_you_mean(name, known));
    }
    for (const auto& argument : node.arguments)
        check_arguments(made, argument);
}

}  // namespace segfold
