// Parses blocks, their statements and their loops.
#include "dsl/text/operator_parser.h"

#include <algorithm>
#include <array>

#include "dsl/check/expand.h"
#include "dsl/message/slips.h"
#include "dsl/printer.h"
#include "dsl/text/token_slips.h"

namespace segfold {

void OperatorParser::skip_statement()
{
    if (cursor_.is("for") && cursor_.is("(", 1))  // the `for (...)` of another language contains semicolons
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

void OperatorParser::note_names(std::size_t start, std::set<std::string>& names) const
{
    const auto tokens = read_since(start);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (tokens[i].kind == TokenKind::word &&
            ((i > 0 && tokens[i - 1].text == "let") || (i + 1 < tokens.size() && tokens[i + 1].text == "=")))
            names.insert(tokens[i].text);
}

Block OperatorParser::block(const Token& keyword)
{
    Block result;
    result.position = keyword.position;
    let_names_.clear();
    if (!cursor_.is("{")) {
        const Position start = cursor_.peek().position;
        result.assignments.push_back({"", expressions_.expression(), start});  // check() adds its field
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

std::string OperatorParser::unclosed() const
{
    return cursor_.at_end() ? "the text ends inside it" : "the part " + cursor_.found() + " begins inside it";
}

bool OperatorParser::terminated_statement(Block& block, const std::string& part)
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

bool OperatorParser::loop(Block& block, const std::string& part)
{
    cursor_.take();
    const Position position = cursor_.peek().position;
    const auto counter = cursor_.name("a counter's name");
    if (is_taken(counter))
        cursor_.fail(position,
                     "'" + counter + "' has a meaning in the language and cannot be a name of your own");
    if (expressions_.replaced.contains(counter) ||
        std::ranges::find(op_->parameters, counter, &Parameter::name) != op_->parameters.end() ||
        names_of(block).taken.contains(counter))
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
    let_names_.erase(&unused);  // an earlier block at the same address may have left entries
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

std::int64_t OperatorParser::bound()
{
    const Position position = cursor_.peek().position;
    const auto value = constant_value(expressions_.expression());
    if (!value)
        cursor_.fail(position, "the bounds of a loop are numbers", "write for k in 0..8 { ... }");
    return *value;
}

OperatorParser::LetNames& OperatorParser::names_of(const Block& block)
{
    auto& names = let_names_[&block];
    if (block.lets.size() < names.num_read)  // the local of a faulty statement was removed
        names = {};
    for (; names.num_read < block.lets.size(); ++names.num_read)
        names.taken.insert(block.lets[names.num_read].name);
    return names;
}

std::string OperatorParser::local_of_round(const Block& block, const std::string& target)
{
    auto& names = names_of(block);
    const auto taken = [&](const std::string& made) {
        return names.taken.contains(made) ||
               std::ranges::find(op_->parameters, made, &Parameter::name) != op_->parameters.end();
    };
    auto& number = names.next_number[target];
    while (taken(entry_name(target, number)))
        ++number;
    return entry_name(target, number);
}

namespace {

bool is_between_values(std::string_view symbol)
{
    constexpr std::array<std::string_view, 5> symbols = {"+", "-", "*", "/", "%"};
    return std::ranges::find(symbols, symbol) != symbols.end();
}

bool is_arithmetic(std::string_view symbol)
{
    constexpr std::array<std::string_view, 5> others = {"&", "|", "^", "<<", ">>"};
    return is_between_values(symbol) || std::ranges::find(others, symbol) != others.end();
}

}  // namespace

void OperatorParser::statement(Block& result, const std::string& part)
{
    const bool let = cursor_.accept("let");
    const Position position = cursor_.peek().position;
    if (!cursor_.is("=", 1) && !let)
        if (const auto advice = advice_on_word(cursor_.peek().text); !advice.empty())
            cursor_.fail(position, "'" + cursor_.peek().text + "' is not a word of the language", advice);
    auto target = cursor_.name(let ? "a name after 'let'" : "a field to set");
    const auto written = target;
    // True for the counter of a loop, and for a local of the current round.
    const bool is_round = expressions_.replaced.contains(target);
    if ((is_round && cursor_.is("[")) || (!let && cursor_.is("=") && !is_field(target) &&
                                          (is_round || is_name_of_block(result, target, part))))
        cursor_.fail(position, "'" + target + "' is already a name here", "choose another");
    const bool is_entry = cursor_.accept("[");
    if (is_entry) {
        const Position at = cursor_.peek().position;
        const auto written_index = expressions_.expression();
        const auto index = constant_value(written_index);
        if (!index)
            cursor_.fail(at, "the index of what is set is a number or a loop's counter",
                         "set every entry: for k in 0.." + std::to_string(entries_of(target)) + " { " +
                             target + "[k] = k == " + print(written_index) + " ? ... : ... }");
        cursor_.expect("]");
        target += "[" + std::to_string(*index) + "]";
    }
    if (!let && cursor_.is(".") && cursor_.peek(1).kind == TokenKind::word)
        cursor_.fail(position, "a field is set by its name alone",
                     "write " + cursor_.peek(1).text + " = ...");
    if (!let && is_assigning_sign())
        refuse_assigning_sign(target, part);
    const bool is_value = !let && !cursor_.is("=", 1) && is_between_values(cursor_.peek().text) &&
                          cursor_.peek(1).kind != TokenKind::symbol;
    if (!cursor_.is("=") && (is_value || advice_at(cursor_.tokens(), cursor_.place()).empty()))
        cursor_.fail(cursor_.peek().position, "expected '=', found " + cursor_.found(),
                     let ? ""
                         : "a block sets fields: " + field_of(part) + " = VALUE" +
                               (is_value ? "; a value alone stands without braces" : ""));
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

/// True for a field, a result, an output or an array of these. True for any name if the state could not be
/// read.
bool OperatorParser::is_field(const std::string& target) const
{
    const auto is_it = [&](const auto& field) {
        return field.name == target || field.name == entry_name(target, 0);
    };
    return op_->state.empty() || std::ranges::any_of(op_->state, is_it) ||
           std::ranges::any_of(op_->results, is_it) || std::ranges::any_of(op_->outputs, is_it);
}

/// True for a column, an operand or a local, which a part may read but not set.
bool OperatorParser::is_name_of_block(const Block& block, const std::string& target,
                                      const std::string& part) const
{
    return std::ranges::find(op_->parameters, target, &Parameter::name) != op_->parameters.end() ||
           std::ranges::find(block.lets, target, &Let::name) != block.lets.end() ||
           (part == "combine" && (target == op_->earlier || target == op_->later)) ||
           (part == "scan" && std::ranges::find(scan_states_, target) != scan_states_.end());
}

/// True if the next tokens are ++, -- or an operator such as +=.
bool OperatorParser::is_assigning_sign() const
{
    const auto& sign = cursor_.peek().text;
    return is_arithmetic(sign) &&
           (cursor_.is("=", 1) || ((sign == "+" || sign == "-") && cursor_.is(sign, 1)));
}

void OperatorParser::refuse_assigning_sign(const std::string& target, const std::string& part) const
{
    const auto& sign = cursor_.peek().text;
    const std::string advice = part == "combine"
                                   ? "write it out, as in " + target + " = " + op_->earlier + "." + target +
                                         " " + sign + " " + op_->later + "." + target
                                   : part + " sets each of its fields once: " + target + " = VALUE";
    cursor_.fail(cursor_.peek().position, "expected '=', found " + cursor_.found(),
                 "there is no '" + sign + cursor_.peek(1).text + "'; " + advice);
}

/// Returns the number of entries of an array of the state or of the results.
std::size_t OperatorParser::entries_of(const std::string& array) const
{
    const auto has = [&](std::size_t k) {
        const auto name = entry_name(array, static_cast<std::int64_t>(k));
        const auto is_it = [&](const auto& field) { return field.name == name; };
        return std::ranges::any_of(op_->state, is_it) || std::ranges::any_of(op_->results, is_it);
    };
    std::size_t count = 0;
    while (has(count))
        ++count;
    return count == 0 ? 8 : count;
}

std::string OperatorParser::field_of(const std::string& part) const
{
    if ((part == "finish" || part == "empty") && !op_->results.empty())
        return op_->results[0].name;
    if (part == "map" || part == "scan")
        return op_->outputs.empty() ? "OUTPUT" : op_->outputs[0].name;
    return op_->state.empty() ? "FIELD" : op_->state[0].name;
}

}  // namespace segfold
