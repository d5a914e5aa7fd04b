// Resolves names, fields and tables, and makes messages about unknown ones.
#include <algorithm>

#include "dsl/check/typing.h"
#include "dsl/message/slips.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

/// Lists names for a message, at most 20.
std::string list(const std::vector<std::string_view>& names)
{
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        text += (i == 0 ? "" : ", ") + std::string(names[i]);
    return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

}  // namespace

void Typing::fail(const Expression& at, const std::string& message, const std::string& hint) const
{
    if (op_.source || at->position.file != nullptr)
        throw placed_error(op_.source, at->position, message, hint);
    throw placed_error(nullptr, {}, "operator " + op_.name + ": " + message, hint);
}

bool Typing::knows(std::string_view name) const
{
    return scope_.names.contains(name) || scope_.tables.contains(name) || scope_.operands.contains(name) ||
           scope_.state_fields.contains(name);
}

bool Typing::is_scalar(std::string_view name) const
{
    const auto found = std::ranges::find(op_.parameters, name, &Parameter::name);
    return scope_.tables.contains(name) && found != op_.parameters.end() && found->scalar;
}

const StateField* Typing::find_field(std::string_view name) const
{
    const auto found = std::ranges::find(op_.state, name, &StateField::name);
    return found == op_.state.end() ? nullptr : &*found;
}

std::string Typing::way_to(std::string_view name) const
{
    const std::string word(name);
    const auto parameter = std::ranges::find(op_.parameters, name, &Parameter::name);
    if (scope_.part == "append" && parameter != op_.parameters.end() && parameter->table)
        return "append reads columns and scalars, and no table; leave it out";
    if (scope_.part == "append" && find_field(name) != nullptr)
        return "write " + op_.earlier + "." + word + ", the field of the state";
    if (op_.scan && scope_.part == "scan") {
        if (find_field(name) != nullptr)
            return "write " + op_.scan->before + "." + word + " or " + op_.scan->through + "." + word +
                   ", the field of the state before the element or with it";
        if (std::ranges::find(op_.results, name, &ResultField::name) != op_.results.end())
            return "scan sees states, and no finished result; compute it from the fields of " +
                   op_.scan->through;
        if (name == "length")
            return "a scan does not know how long its segment is; map does";
    }
    if (!scope_.operands.empty() && find_field(name) != nullptr)
        return "write " + op_.earlier + "." + word + " or " + op_.later + "." + word +
               ", the field of the earlier or the later state";
    if (scope_.set.contains(name))
        return "it is being set here, and all are set together; name its value first: let value = ...; " +
               word + " = value";
    if (scope_.part == "empty" && find_field(name) != nullptr)
        return "an empty segment has no state";
    if (scope_.part == "map" && find_field(name) != nullptr)
        return "map sees the finished results; make it one of them";
    if (std::ranges::find(op_.parameters, name, &Parameter::name) != op_.parameters.end())
        return "parameters are known in lift; keep what you need of them in the state";
    if (name == "index" || name == "position" || name == "segment" || name == "length")
        return "index, position and segment are known in lift, segment and length in finish and empty";
    return "";
}

std::vector<std::string_view> Typing::known_names() const
{
    std::vector<std::string_view> names;
    const auto add = [&](const auto& entries) {
        for (const auto& entry : entries)
            names.push_back(entry.first);
    };
    add(scope_.operands);
    add(scope_.state_fields);
    add(scope_.names);
    add(scope_.tables);
    return names;
}

Expression Typing::name(const Expression& expression)
{
    const auto& node = *expression;
    if (scope_.silent.contains(node.name))
        throw Silence();
    if (const auto found = scope_.names.find(node.name); found != scope_.names.end())
        return with_type(expression, {}, found->second);
    if (const auto found = scope_.state_fields.find(node.name); found != scope_.state_fields.end())
        return with_type(make_field(Operand::state, node.name, node.position), {}, found->second);
    if (const auto found = scope_.operands.find(node.name); found != scope_.operands.end()) {
        if (op_.state.size() == 1)
            return with_type(make_field(found->second, op_.state[0].name, node.position), {},
                             op_.state[0].type);
        fail(expression, "'" + node.name + "' is a whole state",
             "name one of its fields: " + node.name + "." + op_.state[0].name);
    }
    if (is_scalar(node.name))
        return gather(make_gather(node.name, Expression(0), node.position));
    if (scope_.tables.contains(node.name))
        fail(expression, "'" + node.name + "' is a table",
             "read one of its entries: " + node.name + "[index]");
    refuse_name(expression);
}

void Typing::refuse_name(const Expression& expression)
{
    const auto& name = expression->name;
    scope_.silent.insert(name);
    if (const auto way = way_to(name); !way.empty())
        fail(expression, "'" + name + "' is not known here", way);
    const auto known = known_names();
    const auto advice = advice_on_name(name);
    fail(expression,
         "unknown name '" + name + "'; " +
             (known.empty() ? "no names are known here" : "the names known here are " + list(known)) +
             (advice.empty() ? did_you_mean(name, known) : ""),
         advice);
}

Expression Typing::field(const Expression& expression) const
{
    const auto& node = *expression;
    if (scope_.silent.contains(node.name))
        throw Silence();
    Operand operand = node.operand;
    if (!node.symbol.empty()) {
        const auto found = scope_.operands.find(node.symbol);
        if (found == scope_.operands.end())
            fail(expression, "'" + node.symbol + "' has no fields",
                 scope_.operands.empty()       ? "only combine's operands have"
                 : scope_.operands.size() == 1 ? "append's state is " + op_.earlier
                 : scope_.part == "scan"
                     ? "scan's states are " + op_.scan->before + " and " + op_.scan->through
                     : "combine's operands are " + op_.earlier + " and " + op_.later);
        operand = found->second;
    } else if (operand == Operand::state   ? scope_.state_fields.empty()
               : operand == Operand::later ? scope_.operands.size() < 2
                                           : scope_.operands.empty()) {
        fail(expression, "there is no state here of which '" + node.name + "' could be a field",
             "combine has two, finish has one, and the other parts have none");
    }
    const auto* known = find_field(node.name);
    if (!known) {
        std::vector<std::string_view> names;
        for (const auto& field : op_.state)
            names.push_back(field.name);
        fail(expression, "unknown state field '" + node.name + "'; the fields are " + list(names) +
                             did_you_mean(node.name, names));
    }
    return with_type(make_field(operand, node.name, node.position), {}, known->type);
}

Expression Typing::gather(const Expression& expression)
{
    const auto& node = *expression;
    if (scope_.silent.contains(node.name))
        throw Silence();
    const auto table = scope_.tables.find(node.name);
    if (table == scope_.tables.end()) {
        if (const auto way = way_to(node.name); !way.empty() && !scope_.names.contains(node.name))
            fail(expression, "'" + node.name + "' is not known here", way);
        std::vector<std::string_view> names;
        for (const auto& entry : scope_.tables)
            names.push_back(entry.first);
        // If `use` made this operator, a scalar argument appears as a read of entry 0.
        const auto& place = *node.arguments[0];
        const bool may_be_scalar = place.kind == ExpressionKind::integer && place.magnitude == 0 &&
                                   !scope_.names.contains(node.name);
        fail(
            expression, "'" + node.name + "' is not a table" + did_you_mean(node.name, names),
            "declare it as a parameter" +
                (may_be_scalar ? ", of the type that is wanted: " + node.name + ": scalar f32 for one value, "
                               : ": ") +
                node.name + ": table f32" + (may_be_scalar ? " for many" : ""));
    }
    const auto& written = *node.arguments[0];
    if (is_scalar(node.name) && (written.kind != ExpressionKind::integer || written.magnitude != 0))
        fail(expression, "'" + node.name + "' is a scalar", "it has one value: " + node.name);
    auto index = resolve(node.arguments[0], Type::i64);
    if (!is_integer(*index->type))
        fail(node.arguments[0], "an index of type " + std::string(segfold::name(*index->type)),
             "convert it to an integer: i32(...)");
    return with_type(expression, {std::move(index)}, table->second);
}

void Typing::refuse_function(const Expression& expression) const
{
    const auto& name = expression->name;
    auto names = function_names();
    names.insert(names.end(), {"lowest", "highest", "epsilon"});
    std::string all;
    for (std::size_t i = 0; i < names.size(); ++i)
        all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
    const auto advice = advice_on_function(name);
    fail(expression,
         "unknown function '" + name + "'; the functions are " + all +
             (advice.empty() ? did_you_mean(name, names) : ""),
         advice);
}

}  // namespace segfold
