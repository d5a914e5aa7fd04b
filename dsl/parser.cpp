#include "dsl/parser.h"

#include <algorithm>
#include <array>
#include <limits>

#include "dsl/check.h"
#include "dsl/expand.h"
#include "dsl/expression_parser.h"
#include "dsl/lexer.h"
#include "dsl/product.h"
#include "dsl/slips.h"
#include "dsl/suggest.h"

namespace segfold {
namespace {

/// The grammar of operators, one function per production; goes on after a fault at the next declaration,
/// statement or part.
class Parser {
public:
    Parser(const SourcePointer& source, Tokens read, std::optional<Type> generic, Complaints& complaints)
        : heading_(std::move(read.heading)),
          cursor_(source, std::move(read.tokens)),
          expressions_(cursor_, generic),
          complaints_(complaints)
    {}

    /// operator ::= "operator" name "(" [parameter {"," parameter}] ")" ["->" results] "{" {part} "}"
    Operator whole_operator()
    {
        Operator op;
        op_ = &op;
        op.source = cursor_.source();
        op.description = heading_;
        cursor_.expect_word("operator");
        op.position = cursor_.peek().position;
        op.name = cursor_.name("the operator's name");
        cursor_.expect("(");
        if (!cursor_.accept(")"))
            declarations([&] { op.parameters.push_back(parameter()); });
        const auto arrow = cursor_.place();
        if (cursor_.accept("->") && !complaints_.attempt([&] { results(op); }))
            skip_declaration(arrow);
        const Position open = cursor_.peek().position;
        if (cursor_.is(":") || cursor_.is("="))
            cursor_.fail(open, "expected '{', found " + cursor_.found(), "results follow '->'");
        cursor_.expect("{");
        while (!cursor_.accept("}")) {
            if (cursor_.at_end() && !complaints_.empty())
                return op;  // a fault told before has swallowed the end
            if (cursor_.at_end())
                cursor_.fail(open, "this '{' is never closed", "the text ends inside the operator");
            const auto start = cursor_.place();
            if (!complaints_.attempt([&] { part(op); }))
                skip_part(start);
        }
        if (complaints_.empty())
            cursor_.expect_end();
        return op;
    }

    /// What the faults have left out.
    [[nodiscard]] Unread& unread() { return unread_; }
    [[nodiscard]] const Shorthands& shorthands() const { return shorthands_; }
    [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
    /// The first part that is neither `use` nor `def`; empty where there is none.
    [[nodiscard]] std::string first_part() const { return seen_.empty() ? std::string() : seen_.front(); }

private:
    /// Items with commas between them, up to the closing parenthesis.
    template <class Item>
    void declarations(const Item& item)
    {
        for (bool more = true; more;) {
            const auto start = cursor_.place();
            const bool read = complaints_.attempt([&] {
                item();
                more = cursor_.accept(",");
                if (!more)
                    cursor_.expect(")");
            });
            if (read)
                continue;
            skip_declaration(start);
            more = cursor_.accept(",");
            if (!more)
                cursor_.accept(")");
        }
    }

    /// Moves to the end of a declaration whose words nobody asks about any more.
    void skip_declaration(std::size_t start)
    {
        stop_if_exhausted();
        for (int depth = 0; !cursor_.at_end() && !cursor_.is("{") && !cursor_.is("}") && !begins_part();
             cursor_.take()) {
            if (depth == 0 && (cursor_.is(",") || cursor_.is(";") || cursor_.is(")") || cursor_.is("->")))
                break;
            depth += cursor_.is("(") ? 1 : cursor_.is(")") ? -1 : 0;
        }
        for (const auto& token : read_since(start))
            if (token.kind == TokenKind::word)
                unread_.declared.insert(token.text);
    }

    /// Moves to the next part, or to the end of the operator.
    void skip_part(std::size_t start)
    {
        stop_if_exhausted();
        unread_.parts = true;
        if (cursor_.place() == start)
            cursor_.take();
        for (int depth = 0; !cursor_.at_end(); cursor_.take()) {
            if (depth == 0 && (cursor_.is("}") || cursor_.at_part()))
                return;
            depth += cursor_.is("{") ? 1 : cursor_.is("}") ? -1 : 0;
        }
    }

    /// Moves behind a statement that could not be read, with the blocks that another language would put
    /// there.
    void skip_statement()
    {
        if (cursor_.is("for") && cursor_.is("(", 1))  // which holds semicolons
            while (!cursor_.at_end() && !cursor_.is(")") && !cursor_.is("{") && !cursor_.is("}"))
                cursor_.take();
        for (int depth = 0; !cursor_.at_end(); cursor_.take()) {
            if (depth == 0 && (cursor_.is(";") || cursor_.is("}") || begins_part()))
                break;
            depth += cursor_.is("{") ? 1 : cursor_.is("}") ? -1 : 0;
            if (depth == 0 && cursor_.is("}") && !cursor_.is("else", 1) && !cursor_.is("elif", 1)) {
                cursor_.take();
                break;
            }
        }
        cursor_.accept(";");
    }

    void stop_if_exhausted() const
    {
        if (expressions_.exhausted())
            complaints_.raise_if_any();
    }

    [[nodiscard]] std::span<const Token> read_since(std::size_t start) const
    {
        return cursor_.tokens().subspan(start, cursor_.place() - start);
    }

    /// Notes the names that a statement would have made known.
    void note_names(std::size_t start, std::set<std::string>& names) const
    {
        const auto tokens = read_since(start);
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (tokens[i].kind == TokenKind::word && ((i > 0 && tokens[i - 1].text == "let") ||
                                                      (i + 1 < tokens.size() && tokens[i + 1].text == "=")))
                names.insert(tokens[i].text);
    }

    [[nodiscard]] bool begins_part() const
    {
        return cursor_.at_part() && cursor_.begins_line() && !cursor_.is("=", 1);
    }

    /// parameter ::= name ":" ["table" | "scalar"] type
    Parameter parameter()
    {
        const Position position = cursor_.peek().position;
        auto parameter_name = cursor_.name("a parameter's name");
        if (find_type(parameter_name) && !cursor_.is(":"))
            cursor_.fail(position, "a parameter begins with its name, not with its type",
                         "write " + cursor_.peek().text + ": " + parameter_name);
        cursor_.expect(":");
        const bool scalar = cursor_.peek(1).kind == TokenKind::word && cursor_.accept("scalar");
        const bool table = scalar || cursor_.accept("table");
        return {std::move(parameter_name), expressions_.type(), table, position, scalar};
    }

    /// ["[" number "]"] behind a type
    std::optional<std::int64_t> array_size()
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
        return size;
    }

    /// results ::= type | "(" name ":" type [size] {"," name ":" type [size]} ")"
    void results(Operator& op)
    {
        if (!cursor_.accept("(")) {
            const Position position = cursor_.peek().position;
            op.results.push_back({kResultName, expressions_.type(), position});
            return;
        }
        declarations([&] {
            const Position position = cursor_.peek().position;
            auto field = cursor_.name("a result's name");
            cursor_.expect(":");
            const Type type = expressions_.type();
            const auto size = array_size();
            if (size)
                shorthands_.results.emplace(field, *size);
            for (std::int64_t k = 0; k < size.value_or(1); ++k)
                op.results.push_back({size ? entry_name(field, k) : field, type, position});
        });
    }

    /// part ::= state | lift | combine | finish | empty | laws
    void part(Operator& op)
    {
        const Token keyword = cursor_.peek();
        if (keyword.text == ";") {
            complaints_.add(placed_error(cursor_.source(), keyword.position,
                                         "expected a part of the operator, found ';'",
                                         "no semicolon stands between parts"));
            cursor_.take();
            return;
        }
        if (keyword.text == "def" && cursor_.at_part())
            return definition();
        if (keyword.text == "use" && cursor_.at_part())
            return use();
        if (!is_part(keyword))
            refuse_part(keyword);
        const bool again = std::ranges::find(seen_, keyword.text) != seen_.end();
        if (again && keyword.text != "state")
            cursor_.fail(keyword.position, "'" + keyword.text + "' is given twice", "one is enough");
        if (again)
            complaints_.add(placed_error(cursor_.source(), keyword.position, "'state' is given twice",
                                         "all fields stand in one: state { NAME: TYPE; NAME: TYPE }"));
        seen_.push_back(keyword.text);
        cursor_.take();
        if (keyword.text == "state")
            state(op);
        else if (keyword.text == "combine")
            combine(op, keyword);
        else if (keyword.text == "laws")
            laws(op);
        else
            one_state_part(op, keyword);
    }

    [[noreturn]] void refuse_part(const Token& keyword) const
    {
        const auto suggestion = keyword.kind == TokenKind::word ? did_you_mean(keyword.text, kParts) : "";
        cursor_.fail(keyword.position,
                     "expected a part of the operator, found " + cursor_.found() +
                         (suggestion.empty() ? "; the parts are state, lift, combine, finish, empty and laws"
                                             : suggestion),
                     keyword.text == "identity"
                         ? "the identity is the value of each field: state NAME: TYPE = VALUE"
                     : suggestion.empty() ? advice_at(cursor_.tokens(), cursor_.place())
                                          : "");
    }

    /// Refuses what cannot stand behind the expression of a part, and belongs to it as someone may have meant
    /// it.
    void refuse_what_follows(const Token& keyword) const
    {
        if (cursor_.at_part() || cursor_.is("}") || cursor_.at_end())
            return;
        if (cursor_.is("="))
            cursor_.fail(cursor_.peek().position, "expected a part of the operator, found '='",
                         "fields are set in braces: " + keyword.text + " { FIELD = VALUE; ... }");
        if (cursor_.is(";") && (cursor_.at_part(1) || cursor_.is("}", 1)))
            return;  // which part() refuses and passes over
        if (!advice_at(cursor_.tokens(), cursor_.place()).empty())
            cursor_.unexpected("the next part");
    }

    /// lift, finish or empty
    void one_state_part(Operator& op, const Token& keyword)
    {
        const auto& operand = cursor_.peek(1);
        const bool called = cursor_.is("(") && operand.kind == TokenKind::word && cursor_.is(")", 2) &&
                            !find_type(operand.text) && type_like(operand.text).empty();
        const Token& after = cursor_.peek(3);
        if (called && (cursor_.is("{", 3) || (after.kind == TokenKind::word && !is_part(after))))
            cursor_.fail(cursor_.peek().position, keyword.text + " has no operands",
                         keyword.text == "lift"     ? "it names the columns themselves: lift { ... }"
                         : keyword.text == "finish" ? "it names the fields of the state: finish { ... }"
                                                    : "write empty { ... }");
        auto read = block(keyword);
        if (keyword.text == "lift")
            op.lift = std::move(read);
        else
            (keyword.text == "finish" ? op.finish : op.empty) = std::move(read);
    }

    /// state ::= field | "{" field {";" field} [";"] "}"
    void state(Operator& op)
    {
        const Position open = cursor_.peek().position;
        if (!cursor_.accept("{")) {
            state_field(op);
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
            // A field that begins on a line of its own follows one that is complete.
            if (!cursor_.begins_line() || !cursor_.is(":", 1))
                skip_declaration(start);
            if (cursor_.is("{"))
                skip_statement();
            if (cursor_.place() == start || cursor_.is(",") || cursor_.is(";") || cursor_.is(")"))
                cursor_.take();
        }
    }

    /// field ::= name ":" type [size] ["=" (expression | "[" expression {"," expression} "]")]
    void state_field(Operator& op)
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
        std::vector<Expression> identities;  // one for all entries, or one for each
        if (cursor_.accept("=")) {
            const Position list = cursor_.peek().position;
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

    /// use ::= "use" name ["(" expression {"," expression} ")"] ["as" name]
    void use()
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

    /// definition ::= "def" name "(" [name {"," name}] ")" "=" expression [";"]
    void definition()
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
                                 "it takes the types that it is called with: def " + made.name + "(" +
                                     argument + ") = ...");
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

    /// Refuses names in a definition that are none of its arguments.
    void check_arguments(const OwnFunction& made, const Expression& value) const
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

    /// combine ::= "(" name "," name ")" block
    void combine(Operator& op, const Token& keyword)
    {
        cursor_.expect("(");
        op.earlier = cursor_.name("the earlier operand's name");
        if (cursor_.is(":"))
            cursor_.fail(cursor_.peek().position, "the operands of combine have no types",
                         "both are states: combine(a, b)");
        cursor_.expect(",");
        op.later = cursor_.name("the later operand's name");
        cursor_.expect(")");
        op.combine = block(keyword);
    }

    /// laws ::= ("commutative" | "idempotent") {"," ...}
    void laws(Operator& op)
    {
        constexpr std::array<std::string_view, 2> known = {"commutative", "idempotent"};
        do {
            const Token token = cursor_.peek();
            const auto law = cursor_.name("a law");
            if (law == "commutative")
                op.laws.commutative = true;
            else if (law == "idempotent")
                op.laws.idempotent = true;
            else
                cursor_.fail(token.position, "unknown law '" + law +
                                                 "'; the laws are commutative and idempotent" +
                                                 did_you_mean(law, known));
        } while (cursor_.accept(","));
    }

    /// block ::= expression | "{" {"let" name "=" expression ";" | name "=" expression [";"]} "}"
    Block block(const Token& keyword)
    {
        Block result;
        result.position = keyword.position;
        if (!cursor_.is("{")) {
            const Position start = cursor_.peek().position;
            result.assignments.push_back({"", expressions_.expression(), start});  // check() names the field
            refuse_what_follows(keyword);
            return result;
        }
        const Position open = cursor_.peek().position;
        cursor_.expect("{");
        while (!cursor_.accept("}")) {
            if (cursor_.at_end())
                cursor_.fail(open, "this '{' is never closed", unclosed());
            if (begins_part()) {
                complaints_.add(placed_error(cursor_.source(), open, "this '{' is never closed", unclosed()));
                unread_.blocks[keyword.text];
                break;
            }
            terminated_statement(result, keyword.text);
        }
        return result;
    }

    [[nodiscard]] std::string unclosed() const
    {
        return cursor_.at_end() ? "the text ends inside it"
                                : "the part " + cursor_.found() + " begins inside it";
    }

    /// A statement with what ends it; goes on behind it whatever it holds. False where there was a fault.
    bool terminated_statement(Block& block, const std::string& part)
    {
        if (cursor_.is("for") && cursor_.peek(1).kind == TokenKind::word && !cursor_.is("=", 1)) {
            bool good = true;
            const auto start = cursor_.place();
            if (complaints_.attempt([&] { good = loop(block, part); }))
                return good;
            stop_if_exhausted();
            skip_statement();
            note_names(start, unread_.blocks[part]);
            return false;
        }
        const auto start = cursor_.place();
        const auto lets = block.lets.size();
        const auto assignments = block.assignments.size();
        const bool read = complaints_.attempt([&] {
            statement(block, part);
            if (!cursor_.accept(";") && !cursor_.is("}"))
                cursor_.unexpected("';' or '}'");
        });
        if (read)
            return true;
        stop_if_exhausted();
        const bool is_complete = block.lets.size() + block.assignments.size() > lets + assignments;
        if (is_complete && cursor_.begins_line())
            return false;  // only the ';' is missing
        block.lets.resize(lets);
        block.assignments.resize(assignments);
        skip_statement();
        note_names(start, unread_.blocks[part]);
        return false;
    }

    /// loop ::= "for" name "in" expression ".." expression "{" {statement} "}", read once a round
    ///
    /// False where its body has a fault, of which one round tells.
    bool loop(Block& block, const std::string& part)
    {
        cursor_.take();
        const Position position = cursor_.peek().position;
        const auto counter = cursor_.name("a counter's name");
        if (is_taken(counter))
            cursor_.fail(position,
                         "'" + counter + "' has a meaning in the language and cannot be a name of your own");
        if (expressions_.replaced.contains(counter) ||
            std::ranges::find(op_->parameters, counter, &Parameter::name) != op_->parameters.end() ||
            std::ranges::find(block.lets, counter, &Let::name) != block.lets.end())
            cursor_.fail(position, "'" + counter + "' is already a name here", "choose another");
        if (!cursor_.accept("in"))
            cursor_.unexpected("'in'");
        const Position bounds = cursor_.peek().position;
        const auto first = bound();
        if (!cursor_.accept(".."))
            cursor_.fail(
                cursor_.peek().position, "expected '..', found " + cursor_.found(),
                "a loop names its first number and the one behind its last: for " + counter + " in 0..8");
        const auto last = bound();
        if (last < first)
            cursor_.fail(bounds, "a loop from " + std::to_string(first) + " to " + std::to_string(last),
                         "the second bound lies behind the last round, so it is no less than the first");
        if (last - first > kMostEntries)
            cursor_.fail(bounds, "a loop of more than " + std::to_string(kMostEntries) + " rounds",
                         "loops are written out, so they are short");
        const Position open = cursor_.peek().position;
        cursor_.expect("{");
        const auto body = cursor_.place();
        const auto outer = expressions_.replaced;
        bool good = true;
        Block unused;
        for (auto k = first; good && (k < last || (k == first && first == last)); ++k) {
            if (++rounds_ > kMostNodes)
                cursor_.fail(position, "loops of more than " + std::to_string(kMostNodes) + " rounds in all",
                             "loops are written out, so they are short");
            cursor_.go_back(body);
            expressions_.replaced = outer;
            expressions_.replaced.insert_or_assign(counter, make_counter(k));
            ++loops_;
            while (!cursor_.accept("}")) {
                if (cursor_.at_end() || begins_part()) {
                    --loops_;
                    expressions_.replaced = outer;
                    cursor_.fail(open, "this '{' is never closed", unclosed());
                }
                good = terminated_statement(first == last ? unused : block, part) && good;
            }
            --loops_;
        }
        expressions_.replaced = outer;
        cursor_.accept(";");
        return good;
    }

    /// A bound of a loop, or the index of an entry that is set.
    std::int64_t bound()
    {
        const Position position = cursor_.peek().position;
        const auto value = constant_value(expressions_.expression());
        if (!value)
            cursor_.fail(position, "the bounds of a loop are numbers", "write for k in 0..8 { ... }");
        return *value;
    }

    /// A local of a loop's body gets a name of its own in each round.
    std::string local_of_round(const Block& block, const std::string& target)
    {
        const auto taken = [&](const std::string& made) {
            return std::ranges::find(block.lets, made, &Let::name) != block.lets.end() ||
                   std::ranges::find(op_->parameters, made, &Parameter::name) != op_->parameters.end();
        };
        std::int64_t number = 0;
        while (taken(entry_name(target, number)))
            ++number;
        return entry_name(target, number);
    }

    void statement(Block& result, const std::string& part)
    {
        const bool let = cursor_.accept("let");
        const Position position = cursor_.peek().position;
        if (!cursor_.is("=", 1) && !let)
            if (const auto advice = advice_on_word(cursor_.peek().text); !advice.empty())
                cursor_.fail(position, "'" + cursor_.peek().text + "' is not a word of the language", advice);
        auto target = cursor_.name(let ? "a name after 'let'" : "a field to set");
        const auto written = target;
        if (cursor_.is("[") && expressions_.replaced.contains(target))
            cursor_.fail(position, "'" + target + "' is already a name here", "choose another");
        const bool is_entry = cursor_.accept("[");
        if (is_entry) {
            const Position at = cursor_.peek().position;
            const auto index = constant_value(expressions_.expression());
            if (!index)
                cursor_.fail(at, "the index of what is set is a number or a loop's counter",
                             "set every entry: for k in 0..8 { " + target + "[k] = k == i ? ... : ... }");
            cursor_.expect("]");
            target += "[" + std::to_string(*index) + "]";
        }
        if (!let && cursor_.is(".") && cursor_.peek(1).kind == TokenKind::word)
            cursor_.fail(position, "a field is set by its name alone",
                         "write " + cursor_.peek(1).text + " = ...");
        if (!cursor_.is("=") && advice_at(cursor_.tokens(), cursor_.place()).empty())
            cursor_.fail(cursor_.peek().position, "expected '=', found " + cursor_.found(),
                         let ? "" : "a block sets fields: " + field_of(part) + " = VALUE");
        cursor_.expect("=");
        auto value = expressions_.expression();
        if (let && loops_ > 0 && !is_entry) {
            if (is_taken(target) || expressions_.replaced.contains(target))
                cursor_.fail(position, "'" + target + "' is already a name here", "choose another");
            target = local_of_round(result, target);
            expressions_.replaced.insert_or_assign(written, make_name(target, position));
        }
        if (let)
            result.lets.push_back({std::move(target), std::move(value), position});
        else
            result.assignments.push_back({std::move(target), std::move(value), position});
    }

    /// A field that `part` sets, for an example.
    [[nodiscard]] std::string field_of(const std::string& part) const
    {
        if ((part == "finish" || part == "empty") && !op_->results.empty())
            return op_->results[0].name;
        return op_->state.empty() ? "FIELD" : op_->state[0].name;
    }

    std::string heading_;
    const Operator* op_ = nullptr;  ///< what has been read of it
    TokenCursor cursor_;
    ExpressionParser expressions_;
    Complaints& complaints_;
    Unread unread_;
    Shorthands shorthands_;
    std::vector<Use> uses_;
    int loops_ = 0;   ///< that are open
    int rounds_ = 0;  ///< of all loops
    std::vector<std::string> seen_;
};

SourcePointer make_source(std::string name, std::string text)
{
    return std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
}

Operator read_operator(const SourcePointer& source, Tokens tokens, std::optional<Type> generic)
{
    Complaints complaints;
    Parser parser(source, std::move(tokens), generic, complaints);
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
    const auto source = make_source(std::move(name), std::move(text));
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
