#include "dsl/text/operator_parser.h"

#include <algorithm>
#include <array>

#include "dsl/message/slips.h"
#include "dsl/message/suggest.h"
#include "dsl/text/token_slips.h"

namespace segfold {

Operator OperatorParser::whole_operator()
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
            return op;  // the '}' is missing because an earlier, reported fault skipped it
        if (cursor_.at_end())
            cursor_.fail(open, "this '{' is never closed", "the text ends inside the operator");
        const auto start = cursor_.place();
        if (!complaints_.attempt([&] { part(op); }))
            skip_part(start);
    }
    complaints_.attempt([&] { check_operand_of_append(op); });
    if (complaints_.empty())
        cursor_.expect_end();
    return op;
}

void OperatorParser::skip_declaration(std::size_t start)
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

void OperatorParser::skip_part(std::size_t start)
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

void OperatorParser::stop_if_exhausted() const
{
    if (expressions_.exhausted())
        complaints_.raise_if_any();
}

std::span<const Token> OperatorParser::read_since(std::size_t start) const
{
    return cursor_.tokens().subspan(start, cursor_.place() - start);
}

bool OperatorParser::begins_part() const
{
    return cursor_.at_part() && cursor_.begins_line() && !cursor_.is("=", 1);
}

void OperatorParser::part(Operator& op)
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
    else if (keyword.text == "append")
        append(op, keyword);
    else if (keyword.text == "scan")
        scan(op, keyword);
    else if (keyword.text == "laws")
        laws(op);
    else
        one_state_part(op, keyword);
}

void OperatorParser::refuse_part(const Token& keyword) const
{
    const auto suggestion = keyword.kind == TokenKind::word ? did_you_mean(keyword.text, kParts) : "";
    cursor_.fail(
        keyword.position,
        "expected a part of the operator, found " + cursor_.found() +
            (suggestion.empty() ? "; the parts are state, lift, combine, append, finish, empty, map, scan "
                                  "and laws"
                                : suggestion),
        keyword.text == "identity" ? "the identity is the value of each field: state NAME: TYPE = VALUE"
        : suggestion.empty()       ? advice_at(cursor_.tokens(), cursor_.place())
                                   : "");
}

void OperatorParser::refuse_what_follows(const Token& keyword) const
{
    if (cursor_.at_part() || cursor_.is("}") || cursor_.at_end())
        return;
    if (cursor_.is("="))
        cursor_.fail(cursor_.peek().position, "expected a part of the operator, found '='",
                     "fields are set in braces: " + keyword.text + " { FIELD = VALUE; ... }");
    if (cursor_.is(";") && (cursor_.at_part(1) || cursor_.is("}", 1)))
        return;  // part() reports and skips this semicolon
    if (!advice_at(cursor_.tokens(), cursor_.place()).empty())
        cursor_.unexpected("the next part");
}

void OperatorParser::one_state_part(Operator& op, const Token& keyword)
{
    const auto& operand = cursor_.peek(1);
    const bool called = cursor_.is("(") && operand.kind == TokenKind::word && cursor_.is(")", 2) &&
                        !find_type(operand.text) && type_like(operand.text).empty();
    const Token& after = cursor_.peek(3);
    if (called && (cursor_.is("{", 3) || (after.kind == TokenKind::word && !is_part(after))))
        cursor_.fail(cursor_.peek().position, keyword.text + " has no operands",
                     keyword.text == "lift"     ? "it names the columns themselves: lift { ... }"
                     : keyword.text == "finish" ? "it names the fields of the state: finish { ... }"
                     : keyword.text == "map"    ? "it names columns and results: map { ... }"
                                                : "write empty { ... }");
    auto read = block(keyword);
    if (keyword.text == "lift")
        op.lift = std::move(read);
    else
        (keyword.text == "finish"  ? op.finish
         : keyword.text == "empty" ? op.empty
                                   : op.map) = std::move(read);
}

void OperatorParser::combine(Operator& op, const Token& keyword)
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

void OperatorParser::append(Operator& op, const Token& keyword)
{
    if (!cursor_.is("("))
        cursor_.fail(cursor_.peek().position, "expected '(', found " + cursor_.found(),
                     "append names the state that an element is joined to: append(" + op.earlier + ") ...");
    cursor_.expect("(");
    appended_ = cursor_.peek();
    (void)cursor_.name("the state's name");
    if (cursor_.is(","))
        cursor_.fail(cursor_.peek().position, "append has one operand",
                     "it names the columns themselves, as lift does: append(" + appended_->text + ") ...");
    cursor_.expect(")");
    op.append = block(keyword);
}

void OperatorParser::scan(Operator& op, const Token& keyword)
{
    Scan made;
    made.reverse = cursor_.accept("reverse");
    if (!cursor_.is("("))
        cursor_.fail(cursor_.peek().position, "expected '(', found " + cursor_.found(),
                     "scan names the states before an element and with it: scan(before, through) ...");
    cursor_.expect("(");
    made.before = cursor_.name("the name of the state before the element");
    if (cursor_.is(")"))
        cursor_.fail(cursor_.peek().position, "scan has two states",
                     "that of the elements before this one, and with it: scan(before, through) ...");
    cursor_.expect(",");
    made.through = cursor_.name("the name of the state with the element");
    cursor_.expect(")");
    scan_states_ = {made.before, made.through};
    made.block = block(keyword);
    op.scan = std::move(made);
}

void OperatorParser::check_operand_of_append(const Operator& op)
{
    if (!appended_ || std::ranges::find(seen_, "combine") == seen_.end() || appended_->text == op.earlier)
        return;
    unread_.blocks["append"].insert(appended_->text);  // avoids further faults about later uses of this name
    cursor_.fail(appended_->position,
                 "append calls its state '" + appended_->text + "', and combine calls the earlier one '" +
                     op.earlier + "'",
                 "give both one name: append(" + op.earlier + ") ...");
}

void OperatorParser::laws(Operator& op)
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

}  // namespace segfold
