#include "dsl/text/expression_parser.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "dsl/message/slips.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

/// Makes the node of `a.mean` before check() knows the meaning of `a`. It is a field node whose `symbol` is
/// the operand's name.
Expression make_member(const Token& owner, std::string field, Position position)
{
    ExpressionNode node;
    node.kind = ExpressionKind::field;
    node.name = std::move(field);
    node.symbol = owner.text;
    node.position = position;
    return Expression(std::move(node));
}

/// Makes the node of `a.bins[k]` before arrays are expanded. It is a gather node whose `symbol` is the
/// operand's name.
Expression make_entry(const Expression& member, Expression index)
{
    ExpressionNode node = *member;
    node.kind = ExpressionKind::gather;
    node.arguments = {std::move(index)};
    return Expression(std::move(node));
}

Expression positioned(const Expression& expression, Position position)
{
    ExpressionNode node = *expression;
    node.position = position;
    return Expression(std::move(node));
}

bool is_generic_type(std::string_view word) { return word == "T" || word == "Acc"; }

std::string suggest_type(std::string_view word)
{
    if (const auto type = type_like(word); !type.empty())
        return "; did you mean '" + std::string(type) + "'?";
    std::vector<std::string_view> names;
    for (const Type type : kTypes)
        names.push_back(name(type));
    const auto suggestion = did_you_mean(word, names);
    return suggestion.empty() ? "; the types are bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64"
                              : suggestion;
}

}  // namespace

/// Counts one open parenthesis, list or prefix during its lifetime. Deep nesting is refused, because it could
/// exhaust the stack.
///
/// The printed text of a tree of depth d never has more than 2 * d of them open at once.
class ExpressionParser::Nested {
public:
    explicit Nested(ExpressionParser& parser) : parser_(parser)
    {
        if (parser_.nesting_ == 2 * kDeepestExpression)
            parser_.too_deep(parser_.cursor_.peek().position);
        ++parser_.nesting_;
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

private:
    ExpressionParser& parser_;
};

void ExpressionParser::too_deep(Position position) const
{
    cursor_.fail(position,
                 "the expression nests deeper than " + std::to_string(kDeepestExpression) + " levels",
                 "name parts of it with 'let'");
}

/// Reports the first use of T, and throws Silence for further uses.
void ExpressionParser::refuse_generic(Position position)
{
    if (std::exchange(refused_generic_, true))
        throw Silence();
    cursor_.fail(position, "this operator is written for a type T", "say which T is, e.g. f32 (--type f32)");
}

std::optional<Type> ExpressionParser::generic_type(std::string_view word) const
{
    return !generic_ ? std::nullopt : word == "T" ? generic_ : std::optional(accumulator_type(*generic_));
}

Type ExpressionParser::type()
{
    const Token token = cursor_.peek();
    const auto word = cursor_.name("a type");
    if (is_generic_type(word)) {
        if (const auto chosen = generic_type(word))
            return *chosen;
        refuse_generic(token.position);
    }
    if (const auto known = find_type(word))
        return *known;
    cursor_.fail(token.position, "unknown type '" + word + "'" + suggest_type(word));
}

/// Returns `made`. Throws if the tree is too deep or too large for later recursion.
Expression ExpressionParser::bounded(Expression made)
{
    if (made->depth > kDeepestExpression)
        too_deep(made->position);
    if (++nodes_ > kMostNodes)
        cursor_.fail(
            made->position,
            "the operator has more than " + std::to_string(kMostNodes) + " numbers, names and operations",
            "this is the most that one may have");
    return made;
}

Expression ExpressionParser::expression()
{
    const Nested nested(*this);
    auto condition = binary(1);
    const Position position = cursor_.peek().position;
    if (!cursor_.accept("?"))
        return condition;
    auto yes = expression();
    cursor_.expect(":");
    auto no = expression();
    return bounded(make_conditional(std::move(condition), std::move(yes), std::move(no), position));
}

/// binary ::= unary {symbol unary}, left associative, by precedence
Expression ExpressionParser::binary(int loosest)
{
    auto left = unary();
    for (;;) {
        const Token token = cursor_.peek();
        const int level = token.kind == TokenKind::symbol ? precedence(token.text) : 0;
        if (level < loosest || level == 0)
            return left;
        cursor_.take();
        left = bounded(make_binary(token.text, std::move(left), binary(level + 1), token.position));
    }
}

/// unary ::= ("!" | "~" | "-") unary | primary
Expression ExpressionParser::unary()
{
    const Token token = cursor_.peek();
    if (token.kind == TokenKind::symbol && (token.text == "!" || token.text == "~" || token.text == "-")) {
        const Nested nested(*this);
        cursor_.take();
        return bounded(make_unary(token.text, unary(), token.position));
    }
    return primary();
}

/// Throws if the next token is a word of another language, such as `if`, and a value follows it. A name of
/// this language cannot stand before a value.
void ExpressionParser::refuse_foreign_word() const
{
    const Token& word = cursor_.peek();
    const Token& next = cursor_.peek(1);
    const bool calls = (next.kind == TokenKind::word && !is_part(next)) || next.kind == TokenKind::integer ||
                       next.kind == TokenKind::real || cursor_.is("(", 1);
    if (!calls)
        return;
    if (const auto advice = advice_on_word(word.text); !advice.empty())
        cursor_.fail(word.position, "'" + word.text + "' is not a word of the language", advice);
}

/// primary ::= number | "true" | "false" | "inf" | "nan" | "(" expression ")" | name ["." name]
///           | name "." name "[" expression "]" | name "(" arguments ")" | type "(" expression ")"
///           | limit "(" type ")" | name "[" expression "]"
Expression ExpressionParser::primary()
{
    const Token token = cursor_.peek();
    if (token.kind == TokenKind::integer || token.kind == TokenKind::real)
        return bounded(number());
    if (cursor_.accept("(")) {
        auto inner = expression();
        cursor_.expect(")");
        return inner;
    }
    if (token.kind != TokenKind::word)
        cursor_.unexpected("an expression");
    refuse_foreign_word();
    cursor_.take();
    if (token.text == "true" || token.text == "false")
        return bounded(positioned(Expression(token.text == "true"), token.position));
    if (token.text == "inf" || token.text == "nan")
        return bounded(make_constant(token.text, token.position));
    if (cursor_.accept("("))
        return bounded(called(token));
    if (cursor_.accept("[")) {
        auto index = expression();
        cursor_.expect("]");
        return bounded(make_gather(token.text, std::move(index), token.position));
    }
    if (cursor_.accept(".")) {
        const Token field = cursor_.peek();
        auto member = make_member(token, cursor_.name("a field's name"), field.position);
        if (!cursor_.accept("["))
            return bounded(std::move(member));
        auto index = expression();
        cursor_.expect("]");
        return bounded(make_entry(member, std::move(index)));
    }
    if (const auto found = replaced.find(token.text); found != replaced.end())
        return bounded(positioned(found->second, token.position));
    return bounded(make_name(token.text, token.position));
}

Expression ExpressionParser::called(const Token& token)
{
    if (token.text == "lowest" || token.text == "highest" || token.text == "epsilon") {
        const Type limited = type();
        cursor_.expect(")");
        return make_limit(token.text, limited, token.position);
    }
    std::vector<Expression> arguments;
    if (!cursor_.accept(")")) {
        do
            arguments.push_back(expression());
        while (cursor_.accept(","));
        cursor_.expect(")");
    }
    if (is_generic_type(token.text) && !generic_)
        refuse_generic(token.position);
    const auto converted = is_generic_type(token.text) ? generic_type(token.text) : find_type(token.text);
    if (!converted)
        return make_call(token.text, std::move(arguments), token.position);
    if (arguments.size() != 1)
        cursor_.fail(token.position,
                     "a conversion takes one value, found " + std::to_string(arguments.size()));
    auto made = make_convert(*converted, std::move(arguments[0]), token.position);
    if (!is_generic_type(token.text))
        return made;
    ExpressionNode generic = *made;
    generic.symbol = kGenericConversion;
    return Expression(std::move(generic));
}

void ExpressionParser::refuse_real(const Token& token) const
{
    if (std::strtod(std::string(token.text).c_str(), nullptr) > 1)
        cursor_.fail(token.position, quoted(token.text) + " is beyond the numbers of every type", "use inf");
    cursor_.fail(token.position, quoted(token.text) + " is nearer to 0 than the numbers of every type",
                 "use 0.0");
}

Expression ExpressionParser::number()
{
    const Token token = cursor_.take();
    const char* first = token.text.data();
    const char* last = first + token.text.size();
    if (token.kind == TokenKind::real) {
        double value = 0;
        if (std::from_chars(first, last, value).ec != std::errc())
            refuse_real(token);
        return make_real(near_decimal(token.text, value), token.position);
    }
    const bool hex = token.text.starts_with("0x") || token.text.starts_with("0X");
    std::uint64_t value = 0;
    if (std::from_chars(hex ? first + 2 : first, last, value, hex ? 16 : 10).ec != std::errc())
        cursor_.fail(token.position, quoted(token.text) + " does not fit in 64 bits");
    return positioned(Expression(value), token.position);
}

}  // namespace segfold
