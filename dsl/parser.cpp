#include "dsl/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "dsl/check.h"
#include "dsl/lexer.h"
#include "dsl/suggest.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 6> kParts = {"state", "lift", "combine", "finish", "empty", "laws"};

/// Recursive descent, one function per production.
class Parser {
public:
    Parser(std::string name, std::string text, std::optional<Type> generic,
           std::size_t longest = kLongestText)
        : source_(std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)})),
          generic_(generic)
    {
        auto read = tokenize(source_, longest);
        tokens_ = std::move(read.tokens);
        heading_ = std::move(read.heading);
    }

    /// operator ::= "operator" name "(" [parameter {"," parameter}] ")" ["->" results] "{" {part} "}"
    Operator whole_operator()
    {
        Operator op;
        op.source = source_;
        op.description = heading_;
        expect_word("operator");
        op.position = peek().position;
        op.name = name("the operator's name");
        expect("(");
        if (!accept(")")) {
            do
                op.parameters.push_back(parameter());
            while (accept(","));
            expect(")");
        }
        if (accept("->"))
            results(op);
        const Position open = peek().position;
        expect("{");
        while (!accept("}")) {
            if (peek().kind == TokenKind::end)
                throw spec_error(source_, open, "this '{' is never closed",
                                 "the text ends inside the operator");
            part(op);
        }
        expect_end();
        return op;
    }

    Expression whole_expression()
    {
        auto result = expression();
        expect_end();
        return result;
    }

    [[nodiscard]] const SourcePointer& source() const { return source_; }

private:
    /// Counts parentheses, lists and prefixes for as long as it lives, so that no text can exhaust the stack.
    ///
    /// Printing a tree of depth d opens at most 2 * d of them.
    class Nested {
    public:
        explicit Nested(Parser& parser) : parser_(parser)
        {
            if (++parser_.nesting_ > 2 * kDeepestExpression)
                parser_.too_deep(parser_.peek().position);
        }
        ~Nested() { --parser_.nesting_; }
        Nested(const Nested&) = delete;
        Nested& operator=(const Nested&) = delete;

    private:
        Parser& parser_;
    };

    [[noreturn]] void too_deep(Position position) const
    {
        throw spec_error(source_, position,
                         "the expression nests deeper than " + std::to_string(kDeepestExpression) + " levels",
                         "name parts of it with 'let'");
    }

    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const
    {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    [[nodiscard]] bool is(std::string_view text) const
    {
        return peek().text == text && peek().kind != TokenKind::end;
    }
    bool accept(std::string_view text)
    {
        if (!is(text))
            return false;
        ++at_;
        return true;
    }
    [[nodiscard]] std::string found() const
    {
        return peek().kind == TokenKind::end ? "the end of the text" : quoted(peek().text);
    }
    /// A number may be as long as the text; a message shows its beginning.
    static std::string quoted(const std::string& text)
    {
        constexpr std::size_t longest = 64;
        return "'" + (text.size() > longest ? text.substr(0, longest) + "..." : text) + "'";
    }
    void expect(std::string_view text)
    {
        if (!accept(text))
            throw spec_error(source_, peek().position,
                             "expected '" + std::string(text) + "', found " + found());
    }
    void expect_word(std::string_view word)
    {
        const std::array known = {word};
        if (!accept(word))
            throw spec_error(source_, peek().position,
                             "expected '" + std::string(word) + "', found " + found() +
                                 (peek().kind == TokenKind::word ? did_you_mean(peek().text, known) : ""));
    }
    void expect_end() const
    {
        if (peek().kind != TokenKind::end)
            throw spec_error(source_, peek().position, "expected the end of the text, found " + found());
    }
    std::string name(const std::string& what)
    {
        if (peek().kind != TokenKind::word)
            throw spec_error(source_, peek().position, "expected " + what + ", found " + found());
        return tokens_[at_++].text;
    }

    Type type()
    {
        const Token token = peek();
        const auto word = name("a type");
        if (word == "T" && generic_)
            return *generic_;
        if (const auto known = find_type(word))
            return *known;
        if (word == "T")
            throw spec_error(source_, token.position, "this operator is written for a type T",
                             "say which with --type, e.g. --type f32");
        throw spec_error(source_, token.position, "unknown type '" + word + "'" + suggest_type(word));
    }
    static std::string suggest_type(std::string_view word)
    {
        std::vector<std::string_view> names;
        for (const Type type : kTypes)
            names.push_back(segfold::name(type));
        const auto suggestion = did_you_mean(word, names);
        return suggestion.empty() ? "; the types are bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64"
                                  : suggestion;
    }

    /// parameter ::= name ":" ["table"] type
    Parameter parameter()
    {
        const Position position = peek().position;
        auto parameter_name = name("a parameter's name");
        expect(":");
        const bool table = accept("table");
        return {std::move(parameter_name), type(), table, position};
    }

    /// results ::= type | "(" name ":" type {"," name ":" type} ")"
    void results(Operator& op)
    {
        if (!accept("(")) {
            const Position position = peek().position;
            op.results.push_back({kResultName, type(), position});
            return;
        }
        do {
            const Position position = peek().position;
            auto field = name("a result's name");
            expect(":");
            op.results.push_back({std::move(field), type(), position});
        } while (accept(","));
        expect(")");
    }

    /// part ::= state | lift | combine | finish | empty | laws
    void part(Operator& op)
    {
        const Token keyword = peek();
        if (std::ranges::find(kParts, keyword.text) == kParts.end()) {
            const auto suggestion = keyword.kind == TokenKind::word ? did_you_mean(keyword.text, kParts) : "";
            throw spec_error(
                source_, keyword.position,
                "expected a part of the operator, found " + found() +
                    (suggestion.empty() ? "; the parts are state, lift, combine, finish, empty and laws"
                                        : suggestion));
        }
        if (std::ranges::find(seen_, keyword.text) != seen_.end())
            throw spec_error(source_, keyword.position, "'" + keyword.text + "' is given twice",
                             "one is enough");
        seen_.push_back(keyword.text);
        ++at_;
        if (keyword.text == "state")
            state(op);
        else if (keyword.text == "lift")
            op.lift = block(keyword.position);
        else if (keyword.text == "combine")
            combine(op, keyword.position);
        else if (keyword.text == "finish")
            op.finish = block(keyword.position);
        else if (keyword.text == "empty")
            op.empty = block(keyword.position);
        else
            laws(op);
    }

    /// state ::= field | "{" field {";" field} [";"] "}"
    void state(Operator& op)
    {
        const Position open = peek().position;
        if (!accept("{")) {
            op.state.push_back(state_field());
            return;
        }
        while (!accept("}")) {
            if (peek().kind == TokenKind::end)
                throw spec_error(source_, open, "this '{' is never closed", "the text ends inside it");
            op.state.push_back(state_field());
            if (!accept(";") && !is("}"))
                throw spec_error(source_, peek().position,
                                 "expected ';' or '}' after a state field, found " + found());
        }
    }

    /// field ::= name ":" type ["=" expression]
    StateField state_field()
    {
        const Position position = peek().position;
        auto field = name("a state field's name");
        expect(":");
        StateField result{std::move(field), type(), std::nullopt, position};
        if (accept("="))
            result.identity = expression();
        return result;
    }

    /// combine ::= "(" name "," name ")" block
    void combine(Operator& op, Position position)
    {
        expect("(");
        op.earlier = name("the earlier operand's name");
        expect(",");
        op.later = name("the later operand's name");
        expect(")");
        op.combine = block(position);
    }

    /// laws ::= ("commutative" | "idempotent") {"," ...}
    void laws(Operator& op)
    {
        constexpr std::array<std::string_view, 2> known = {"commutative", "idempotent"};
        do {
            const Token token = peek();
            const auto law = name("a law");
            if (law == "commutative")
                op.laws.commutative = true;
            else if (law == "idempotent")
                op.laws.idempotent = true;
            else
                throw spec_error(source_, token.position,
                                 "unknown law '" + law + "'; the laws are commutative and idempotent" +
                                     did_you_mean(law, known));
        } while (accept(","));
    }

    /// block ::= expression | "{" {"let" name "=" expression ";" | name "=" expression [";"]} "}"
    Block block(Position position)
    {
        Block result;
        result.position = position;
        if (!is("{")) {
            const Position start = peek().position;
            result.assignments.push_back({"", expression(), start});  // check() names the only field
            return result;
        }
        const Position open = peek().position;
        expect("{");
        while (!accept("}")) {
            if (peek().kind == TokenKind::end)
                throw spec_error(source_, open, "this '{' is never closed", "the text ends inside it");
            statement(result);
            if (!accept(";") && !is("}"))
                throw spec_error(source_, peek().position, "expected ';' or '}', found " + found());
        }
        return result;
    }

    void statement(Block& result)
    {
        const bool let = accept("let");
        const Position position = peek().position;
        auto target = name(let ? "a name after 'let'" : "a field to set");
        expect("=");
        auto value = expression();
        if (let)
            result.lets.push_back({std::move(target), std::move(value), position});
        else
            result.assignments.push_back({std::move(target), std::move(value), position});
    }

    /// Refuses trees whose later walks would be too deep or too long.
    Expression bounded(Expression made)
    {
        if (made->depth > kDeepestExpression)
            too_deep(made->position);
        if (++nodes_ > kMostNodes)
            throw spec_error(
                source_, made->position,
                "the operator has more than " + std::to_string(kMostNodes) + " numbers, names and operations",
                "this is the most that one may have");
        return made;
    }

    /// expression ::= binary ["?" expression ":" expression]
    Expression expression()
    {
        const Nested nested(*this);
        auto condition = binary(1);
        const Position position = peek().position;
        if (!accept("?"))
            return condition;
        auto yes = expression();
        expect(":");
        auto no = expression();
        return bounded(make_conditional(std::move(condition), std::move(yes), std::move(no), position));
    }

    /// binary ::= unary {symbol unary}, left associative, by precedence
    Expression binary(int loosest)
    {
        auto left = unary();
        for (;;) {
            const Token token = peek();
            const int level = token.kind == TokenKind::symbol ? precedence(token.text) : 0;
            if (level < loosest || level == 0)
                return left;
            ++at_;
            left = bounded(make_binary(token.text, std::move(left), binary(level + 1), token.position));
        }
    }

    /// unary ::= ("!" | "~" | "-") unary | postfix
    Expression unary()
    {
        const Token token = peek();
        if (token.kind == TokenKind::symbol &&
            (token.text == "!" || token.text == "~" || token.text == "-")) {
            const Nested nested(*this);
            ++at_;
            return bounded(make_unary(token.text, unary(), token.position));
        }
        return primary();
    }

    /// primary ::= number | "true" | "false" | "inf" | "nan" | "(" expression ")" | name ["." name]
    ///           | name "(" arguments ")" | type "(" expression ")" | limit "(" type ")" | name "["
    ///           expression "]"
    Expression primary()
    {
        const Token token = peek();
        if (token.kind == TokenKind::integer || token.kind == TokenKind::real)
            return bounded(number());
        if (accept("(")) {
            auto inner = expression();
            expect(")");
            return inner;
        }
        if (token.kind != TokenKind::word)
            throw spec_error(source_, token.position, "expected an expression, found " + found());
        ++at_;
        if (token.text == "true" || token.text == "false")
            return bounded(positioned(Expression(token.text == "true"), token.position));
        if (token.text == "inf" || token.text == "nan")
            return bounded(make_constant(token.text, token.position));
        if (accept("("))
            return bounded(called(token));
        if (accept("[")) {
            auto index = expression();
            expect("]");
            return bounded(make_gather(token.text, std::move(index), token.position));
        }
        if (accept(".")) {
            const Token field = peek();
            return bounded(make_member(token, name("a field's name"), field.position));
        }
        return bounded(make_name(token.text, token.position));
    }

    /// `a.mean`, before check() knows what `a` is: a field whose operand is still a name.
    static Expression make_member(const Token& owner, std::string field, Position position)
    {
        ExpressionNode node;
        node.kind = ExpressionKind::field;
        node.name = std::move(field);
        node.symbol = owner.text;
        node.position = position;
        return Expression(std::move(node));
    }

    Expression called(const Token& token)
    {
        if (token.text == "lowest" || token.text == "highest" || token.text == "epsilon") {
            const Type limited = type();
            expect(")");
            return make_limit(token.text, limited, token.position);
        }
        std::vector<Expression> arguments;
        if (!accept(")")) {
            do
                arguments.push_back(expression());
            while (accept(","));
            expect(")");
        }
        const auto converted = token.text == "T" ? generic_ : find_type(token.text);
        if (!converted)
            return make_call(token.text, std::move(arguments), token.position);
        if (arguments.size() != 1)
            throw spec_error(source_, token.position,
                             "a conversion takes one value, found " + std::to_string(arguments.size()));
        return make_convert(*converted, std::move(arguments[0]), token.position);
    }

    static Expression positioned(const Expression& expression, Position position)
    {
        ExpressionNode node = *expression;
        node.position = position;
        return Expression(std::move(node));
    }

    Expression number()
    {
        const Token token = tokens_[at_++];
        const char* first = token.text.data();
        const char* last = first + token.text.size();
        if (token.kind == TokenKind::real) {
            double value = 0;
            if (std::from_chars(first, last, value).ec != std::errc())
                throw spec_error(source_, token.position, quoted(token.text) + " does not fit in f64");
            return positioned(Expression(value), token.position);
        }
        const bool hex = token.text.starts_with("0x") || token.text.starts_with("0X");
        std::uint64_t value = 0;
        if (std::from_chars(hex ? first + 2 : first, last, value, hex ? 16 : 10).ec != std::errc())
            throw spec_error(source_, token.position, quoted(token.text) + " does not fit in 64 bits");
        return positioned(Expression(value), token.position);
    }

    SourcePointer source_;
    std::optional<Type> generic_;
    std::vector<Token> tokens_;
    std::string heading_;
    std::size_t at_ = 0;
    int nesting_ = 0;
    int nodes_ = 0;
    std::vector<std::string> seen_;
};

}  // namespace

Operator parse_operator(std::string name, std::string text, std::optional<Type> generic)
{
    Parser parser(std::move(name), std::move(text), generic);
    return check(parser.whole_operator());
}

Operator parse_printed(std::string text)
{
    Parser parser("printed", std::move(text), std::nullopt, std::numeric_limits<std::size_t>::max());
    return check(parser.whole_operator());
}

Expression parse_expression(std::string name, std::string text)
{
    return Parser(std::move(name), std::move(text), std::nullopt).whole_expression();
}

}  // namespace segfold
