#include "dsl/check/check.h"

#include <algorithm>

#include "dsl/check/append.h"
#include "dsl/check/let_types.h"
#include "dsl/check/outputs.h"
#include "dsl/check/rows.h"
#include "dsl/check/typing.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

std::string count(std::size_t number, const std::string& what)
{
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// Checks an operator. After a fault, checks everything that does not depend on the faulty part.
class Checker {
public:
    Checker(Operator op, const Unread& unread, Complaints& complaints)
        : op_(std::move(op)), unread_(unread), complaints_(complaints)
    {}

    Operator run() &&
    {
        check_declarations();
        if (!complaints_.attempt([&] { check_sizes(); }))
            complaints_.raise_if_any();
        if (op_.state.empty())
            return std::move(op_);
        check_identity();
        check_lift();
        check_combine();
        if (op_.append)
            check_append();
        complaints_.attempt([&] { settle_results(); });
        check_finish();
        for (const auto& fault : output_faults(op_, unread_))
            complain(fault.position, fault.message, fault.hint);
        check_map();
        check_scan();
        if (complaints_.empty())
            for (const auto& fault : row_faults(op_))
                complain(fault.position, fault.message, fault.hint);
        return std::move(op_);
    }

private:
    [[noreturn]] void fail(Position position, const std::string& message, const std::string& hint = {}) const
    {
        if (op_.source || position.file != nullptr)
            throw placed_error(op_.source, position, message, hint);
        const bool names_it = message.starts_with("operator " + op_.name + " ");
        throw placed_error(nullptr, {}, names_it ? message : "operator " + op_.name + ": " + message, hint);
    }

    void check_name(const std::string& name, Position position) const
    {
        check_spelling(name, position);
        if (is_taken(name))
            fail(position, "'" + name + "' has a meaning in the language and cannot be a name of your own");
    }

    /// Checks names given in C++ by the rules that the lexer applies to names in texts.
    void check_spelling(const std::string& name, Position position) const
    {
        const auto letter = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        };
        const auto digit = [](char c) { return c >= '0' && c <= '9'; };
        if (name.empty() || name.size() > kLongestName || !letter(name[0]) ||
            !std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); }))
            fail(position, "'" + name.substr(0, kLongestName) + "' is not a name",
                 "a name is a letter or '_' and then letters, digits and '_', " +
                     std::to_string(kLongestName) + " at most");
        if (name.starts_with("__"))
            fail(position, "'" + name + "' begins with two underscores; such names are kept for compilers");
        if (name == "let")
            fail(position, "'let' cannot be a name",
                 position.file != nullptr ? "in the text of an operator it begins a local name"
                                          : "it begins a local name: let NAME = VALUE;");
    }

    /// Checks that no expression is too deep or too large for recursion, and that every expression built in
    /// C++ has a value.
    void check_sizes() const
    {
        int size = 0;
        const auto add = [&](const Expression& expression, Position position) {
            if (!expression.has_value())
                fail(position, "operator " + op_.name + " has an expression without a value");
            if (expression->depth > kDeepestExpression)
                fail(position,
                     "the expression nests deeper than " + std::to_string(kDeepestExpression) + " levels",
                     "name parts of it with 'let'");
            size += expression->size;
            if (size > kMostNodes)
                fail(position,
                     "the operator has more than " + std::to_string(kMostNodes) +
                         " numbers, names and operations",
                     "this is the most that one may have");
        };
        const auto add_block = [&](const Block& block) {
            for (const auto& let : block.lets)
                add(let.value, let.position);
            for (const auto& assignment : block.assignments)
                add(assignment.value, assignment.position);
        };
        for (const auto& field : op_.state)
            if (field.identity)
                add(*field.identity, field.position);
        for (const auto* block : {&op_.lift, &op_.combine})
            add_block(*block);
        for (const auto* block : {&op_.append, &op_.finish, &op_.empty, &op_.map})
            if (*block)
                add_block(**block);
        if (op_.scan)
            add_block(op_.scan->block);
    }

    template <class Items>
    void check_distinct(Items& items, const std::string& what, bool reserved_too = true)
    {
        if (items.size() > kMostFields) {
            complaints_.attempt([&] {
                fail(items[kMostFields].position,
                     "operator " + op_.name + " has " + std::to_string(items.size()) + " " + what + "s",
                     "at most " + std::to_string(kMostFields) + " are allowed");
            });
            complaints_.raise_if_any();
        }
        Items distinct;
        for (const auto& item : items) {
            complaints_.attempt([&] {
                if (reserved_too)
                    check_name(item.name, item.position);
                else
                    check_spelling(item.name, item.position);
            });
            if (std::ranges::find(distinct, item.name, &Items::value_type::name) == distinct.end())
                distinct.push_back(item);
            else
                complain(item.position, what + " '" + item.name + "' is declared twice");
        }
        items = std::move(distinct);
    }

    void check_declarations()
    {
        complaints_.attempt([&] { check_spelling(op_.name, op_.position); });
        check_distinct(op_.parameters, "parameter");
        check_distinct(op_.state, "state field");
        check_distinct(op_.results, "result", false);
        check_distinct(op_.outputs, "output", false);
        const bool declared = unread_.declared.empty();
        if (op_.state.empty() && declared && !unread_.parts)
            complain(op_.position, "operator " + op_.name + " has no state",
                     "write 'state NAME: TYPE = IDENTITY' or 'state { NAME: TYPE; ... }'");
        if (op_.parameters.empty() && declared)
            complain(op_.position, "operator " + op_.name + " has no parameter",
                     "name at least one column: operator " + op_.name + "(x: f32)");
        else if (std::ranges::all_of(op_.parameters, &Parameter::table) && declared)
            complain(op_.position, "operator " + op_.name + " has only tables",
                     "at least one parameter must be a column, whose length is the number of elements");
        if (op_.earlier == op_.later)
            complain(op_.combine.position, "both operands of combine are called '" + op_.earlier + "'",
                     "name them apart: combine(a, b); the first covers the earlier elements");
        complaints_.attempt([&] { check_name(op_.earlier, op_.combine.position); });
        complaints_.attempt([&] { check_name(op_.later, op_.combine.position); });
        if (op_.scan)
            for (const auto& state : {op_.scan->before, op_.scan->through})
                complaints_.attempt([&] { check_name(state, op_.scan->block.position); });
        require(op_.lift, "lift", "lift turns an element into a state, e.g. lift x");
        require(op_.combine, "combine", "combine joins two states, e.g. combine(a, b) a + b");
    }

    void complain(Position position, const std::string& message, const std::string& hint = {})
    {
        complaints_.attempt([&] { fail(position, message, hint); });
    }

    void require(const Block& block, const std::string& part, const std::string& hint)
    {
        if (is_missing(block) && !unread_.parts && !unread_.blocks.contains(part))
            complain(block.position.line != 0 ? block.position : op_.position,
                     "operator " + op_.name + " has no " + part, hint);
    }

    static bool is_missing(const Block& block) { return block.assignments.empty() && block.lets.empty(); }

    void check_identity()
    {
        const auto with =
            std::ranges::find_if(op_.state, [](const auto& f) { return f.identity.has_value(); });
        const auto without = std::ranges::find_if(op_.state, [](const auto& f) { return !f.identity; });
        if (with != op_.state.end() && without != op_.state.end())
            complain(without->position,
                     "field '" + without->name + "' has no identity, but '" + with->name + "' has one",
                     "give all fields an identity, or none");
        Typing typing(op_, {});
        for (auto& field : op_.state)
            if (field.identity)
                complaints_.attempt([&] {
                    field.identity =
                        typing.value(*field.identity, field.type, "the identity of '" + field.name + "'");
                });
    }

    /// Collects the names that lift, map, scan and append may use. `has_tables` is false only for append,
    /// which reads no tables.
    [[nodiscard]] Scope scope_of_element(bool has_tables) const
    {
        Scope scope;
        for (const auto& parameter : op_.parameters)
            if (!parameter.table || parameter.scalar || has_tables)
                (parameter.table ? scope.tables : scope.names).emplace(parameter.name, parameter.type);
        for (const char* place : {"index", "position", "segment"})
            scope.names.emplace(place, Type::i64);
        return scope;
    }

    void check_lift()
    {
        if (!is_missing(op_.lift) && !op_.parameters.empty())
            check_block(op_.lift, scope_of_element(true), op_.state, "lift", "state field");
    }

    void check_combine()
    {
        Scope scope;
        scope.operands = {{op_.earlier, Operand::earlier}, {op_.later, Operand::later}};
        if (!is_missing(op_.combine))
            check_block(op_.combine, std::move(scope), op_.state, "combine", "state field");
    }

    void check_append()
    {
        const auto hidden = std::ranges::find(op_.parameters, op_.earlier, &Parameter::name);
        if (hidden != op_.parameters.end())
            return complain(hidden->position, "append knows a parameter and a state '" + hidden->name + "'",
                            "name the operands of combine and append otherwise");
        auto scope = scope_of_element(false);
        scope.operands = {{op_.earlier, Operand::earlier}};
        check_block(*op_.append, std::move(scope), op_.state, "append", "state field");
        if (complaints_.empty() && !read_by_append_alone(op_).empty())
            complain(op_.append->position,
                     "append reads '" + read_by_append_alone(op_) + "', which lift does not read",
                     "append gives combine(" + op_.earlier + ", lift), so nothing else can matter");
    }

    /// Completes and checks the results. Without declared results, the state's fields are the results.
    /// Without finish, results must match the state's fields in number and type.
    void settle_results()
    {
        if (op_.results.empty()) {
            if (op_.finish && unread_.declared.empty())
                fail(op_.finish->position, "operator " + op_.name + " has a finish but names no result",
                     "name them: operator " + op_.name + "(...) -> (mean: f32)");
            for (const auto& field : op_.state)
                op_.results.push_back({field.name, field.type, field.position});
            op_.keeps_results = op_.outputs.empty();
        }
        if (op_.finish || unread_.parts || !unread_.declared.empty())
            return;
        if (op_.results.size() != op_.state.size())
            fail(op_.position,
                 "operator " + op_.name + " has " + count(op_.state.size(), "state field") + " and " +
                     count(op_.results.size(), "result"),
                 "say in 'finish' how the results come from the state");
        for (std::size_t i = 0; i < op_.results.size(); ++i) {
            const auto& result = op_.results[i];
            const auto& field = op_.state[i];
            if (result.type != field.type)
                fail(result.position,
                     (result.name == kResultName ? "the result" : "result '" + result.name + "'") + " is " +
                         std::string(name(result.type)) + ", but state field '" + field.name + "' is " +
                         std::string(name(field.type)),
                     "say in 'finish' how the results come from the state");
        }
    }

    void check_finish()
    {
        if (op_.results.empty())
            return;
        Scope scope;
        for (const char* place : {"segment", "length"})
            scope.names.emplace(place, Type::i64);
        if (op_.empty)
            check_block(*op_.empty, scope, op_.results, "empty", "result");
        for (const auto& field : op_.state)
            scope.state_fields.emplace(field.name, field.type);
        if (op_.finish)
            check_block(*op_.finish, std::move(scope), op_.results, "finish", "result");
    }

    /// Checks map. Its expressions call parameters and results by name, so these names must differ.
    void check_map()
    {
        if (!op_.map || op_.results.empty() || op_.outputs.empty())
            return;
        auto scope = scope_of_element(true);
        for (const auto& result : op_.results)
            if (find_type(result.name) == std::nullopt && find_function(result.name) == nullptr)
                scope.names.emplace(result.name, result.type);
        scope.names.emplace("length", Type::i64);
        check_block(*op_.map, std::move(scope), settable_outputs(op_, "map", unread_), "map", "output");
    }

    void check_scan()
    {
        if (!op_.scan || op_.outputs.empty())
            return;
        auto& [before, through, reverse, block] = *op_.scan;
        auto scope = scope_of_element(true);
        scope.operands = {{before, Operand::earlier}, {through, Operand::later}};
        check_block(block, std::move(scope), settable_outputs(op_, "scan", unread_), "scan", "output");
        if (complaints_.empty() && !op_.has_identity() && reads_before(op_))
            complain(block.position,
                     "scan reads '" + before + "', but operator " + op_.name +
                         " has no identity, so the first element of a segment has no state before it",
                     "give the state fields an identity (= VALUE), or read " + through + " alone");
    }

    template <class Fields>
    void check_block(Block& block, Scope scope, const Fields& fields, const std::string& part,
                     const std::string& kind)
    {
        scope.part = part;
        for (const auto& field : fields)
            scope.set.insert(field.name);
        scope.silent.insert(unread_.declared.begin(), unread_.declared.end());
        bool is_whole = !unread_.blocks.contains(part);
        const auto left_out = unread_.blocks.find(part);
        if (!is_whole)
            scope.silent.insert(left_out->second.begin(), left_out->second.end());
        Typing typing(op_, std::move(scope));

        std::vector<Assignment> ordered(fields.size());
        std::vector<TypedValue> values;
        std::vector<std::size_t> places;
        for (auto& assignment : block.assignments) {
            std::size_t place = fields.size();
            if (complaints_.attempt([&] { place = place_of(assignment, fields, ordered, part, kind); })) {
                ordered[place].field = assignment.field;
            } else {
                typing.silence(assignment.field);
                is_whole = false;
            }
            places.push_back(place);
            values.push_back(
                {assignment.value, place < fields.size() ? std::optional(fields[place].type) : std::nullopt});
        }
        check_lets(block, typing, values);
        for (std::size_t i = 0; i < block.assignments.size(); ++i)
            if (places[i] < fields.size())
                complaints_.attempt([&] {
                    auto& assignment = block.assignments[i];
                    const auto& field = fields[places[i]];
                    assignment.value =
                        typing.value(assignment.value, field.type, kind + " '" + field.name + "'");
                    ordered[places[i]] = std::move(assignment);
                });
        if (is_whole)
            complaints_.attempt([&] { check_all_set(block, fields, ordered, part, kind); });
        block.assignments = std::move(ordered);
    }

    void check_lets(Block& block, Typing& typing, const std::vector<TypedValue>& values)
    {
        const auto untyped = let_uses(typing, block.lets, values);
        for (auto& let : block.lets) {
            const bool good = complaints_.attempt([&] {
                check_name(let.name, let.position);
                if (typing.knows(let.name))
                    fail(let.position, "'" + let.name + "' is already a name here", "choose another");
                const auto uses = untyped.find(let.name);
                if (uses != untyped.end() && uses->second.other)
                    refuse_uses(let, uses->second);
                const bool asked = uses != untyped.end() && uses->second.first;
                let.value =
                    typing.value(let.value, asked ? std::optional(uses->second.first->type) : std::nullopt);
            });
            if (good)
                typing.add(let.name, *let.value->type);
            else
                typing.silence(let.name);
        }
    }

    /// Throws because two uses of an untyped local need different types. The message says which use must
    /// convert.
    [[noreturn]] void refuse_uses(const Let& let, const LetUses& uses) const
    {
        auto kept = *uses.first, changed = *uses.other;
        if (has_fraction(let.value) && is_float(changed.type))
            std::swap(kept, changed);
        const auto type = [](const LetUse& use) { return std::string(name(use.type)); };
        const auto place = [&](const LetUse& use) {
            const auto at = use.position;
            return at.line == 0                                  ? std::string()
                   : kept.position.line == changed.position.line ? " in column " + std::to_string(at.column)
                                                                 : " in line " + std::to_string(at.line);
        };
        fail(let.position,
             "'" + let.name + "' is used as " + type(kept) + place(kept) + " and as " + type(changed) +
                 place(changed),
             "write " + type(changed) + "(" + let.name + ")" + place(changed));
    }

    template <class Fields>
    void check_all_set(const Block& block, const Fields& fields, const std::vector<Assignment>& ordered,
                       const std::string& part, const std::string& kind) const
    {
        std::vector<std::string> missing;
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (ordered[i].field.empty())
                missing.push_back("'" + fields[i].name + "'");
        if (missing.empty())
            return;
        std::string list = missing[0];
        for (std::size_t i = 1; i < missing.size(); ++i)
            list += (i + 1 == missing.size() ? " and " : ", ") + missing[i];
        fail(block.position, part + " does not set " + list, "every " + kind + " needs a value");
    }

    /// Returns the index in `fields` of the field that `assignment` sets. Throws if the field is unknown or
    /// was set before.
    template <class Fields>
    std::size_t place_of(Assignment& assignment, const Fields& fields, const std::vector<Assignment>& ordered,
                         const std::string& part, const std::string& kind) const
    {
        if (assignment.field.empty()) {
            if (fields.size() != 1 && !unread_.declared.empty())
                throw Silence();
            if (fields.size() != 1)
                fail(assignment.position,
                     part + " gives one value, but there are " + std::to_string(fields.size()) + " " + kind +
                         "s",
                     "set each: { " + fields[0].name + " = ...; ... }");
            assignment.field = fields[0].name;
        }
        std::size_t i = 0;
        while (i < fields.size() && fields[i].name != assignment.field)
            ++i;
        if (i == fields.size()) {
            if (unread_.declared.contains(assignment.field))
                throw Silence();
            refuse_target(assignment, fields, part, kind);
        }
        if (!ordered[i].field.empty())
            fail(assignment.position, part + " sets '" + assignment.field + "' twice");
        return i;
    }

    template <class Fields>
    [[noreturn]] void refuse_target(const Assignment& assignment, const Fields& fields,
                                    const std::string& part, const std::string& kind) const
    {
        std::vector<std::string_view> names;
        std::string list;
        for (const auto& field : fields) {
            names.push_back(field.name);
            list += (list.empty() ? "" : ", ") + field.name;
        }
        const auto suggestion = did_you_mean(assignment.field, names);
        // The hint about `let` applies to texts only, not to C++.
        const bool needs_let = suggestion.empty() && assignment.position.file == nullptr;
        fail(assignment.position,
             "unknown " + kind + " '" + assignment.field + "'; " + part + " sets " + list + suggestion,
             needs_let ? "a name of your own is bound with let: let " + assignment.field + " = ..." : "");
    }

    Operator op_;
    const Unread& unread_;
    Complaints& complaints_;
};

}  // namespace

Operator check(Operator op)
{
    Complaints complaints;
    const Unread unread;
    auto checked = check(std::move(op), unread, complaints);
    complaints.raise_if_any();
    return checked;
}

Operator check(Operator op, const Unread& unread, Complaints& complaints)
{
    return Checker(std::move(op), unread, complaints).run();
}

}  // namespace segfold
