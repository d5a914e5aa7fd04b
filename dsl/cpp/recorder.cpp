#include "dsl/cpp/handles.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "dsl/check/check.h"
#include "dsl/cpp/define.h"

namespace segfold {
namespace {

thread_local Recording* t_recording = nullptr;
thread_local Recorder* t_definition = nullptr;
thread_local Making* t_making = nullptr;

constexpr std::string_view kPartNames[] = {"lift", "combine", "finish", "empty", "map", "append", "scan"};

/// Replaces each field of the final state by the name of a result, for use in map.
Expression with_results_named(const Expression& expression)
{
    const auto& node = *expression;
    if (node.kind == ExpressionKind::field && node.operand == Operand::state && node.symbol.empty())
        return make_name(node.name, node.position);
    ExpressionNode copy = node;
    for (auto& argument : copy.arguments)
        argument = with_results_named(argument);
    return Expression(std::move(copy));
}

std::string part_name(Recording::Part part) { return std::string(kPartNames[static_cast<int>(part)]); }

std::string home_name(const Home& home)
{
    return (home.part.empty() ? "" : home.part + " of ") + "operator '" + home.op + "'";
}

[[noreturn]] void refuse_outside(const std::string& what, Position at)
{
    throw spec_error(nullptr, at, what + " stands in no part of an operator",
                     "it belongs into lift, combine, finish or empty");
}

/// Returns the part that is being recorded. Throws SpecError about `what` if there is none.
Recording& recording(const std::string& what, Position at)
{
    if (t_recording == nullptr)
        refuse_outside(what, at);
    return *t_recording;
}

/// True if the expression reads the table called `table`.
bool reads_table(const Expression& expression, std::string_view table)
{
    return (expression->kind == ExpressionKind::gather && expression->name == table) ||
           std::ranges::any_of(expression->arguments,
                               [&](const Expression& argument) { return reads_table(argument, table); });
}

}  // namespace

Recording::Recording(Recorder& recorder, Part part, Position at)
    : recorder_(recorder),
      part_(part),
      block_(part == Part::lift      ? recorder.operator_.lift
             : part == Part::combine ? recorder.operator_.combine
             : part == Part::finish  ? recorder.operator_.finish.emplace()
             : part == Part::empty   ? recorder.operator_.empty.emplace()
             : part == Part::append  ? recorder.operator_.append.emplace()
             : part == Part::scan    ? recorder.operator_.scan.emplace().block
                                     : recorder.operator_.map.emplace()),
      home_(std::make_shared<const Home>(Home{recorder.operator_.name, part_name(part), recorder.home_})),
      outer_(t_recording)
{
    auto& said = recorder.said_[static_cast<std::size_t>(part)];
    if (said)
        recorder.fail(at, "operator " + recorder.operator_.name + " has a second " + part_name(part),
                      "say it once");
    said = true;
    block_.position = at;
    t_recording = this;
}

Recording::~Recording() { t_recording = outer_; }

void Recording::check_home(const Term& value, Position at) const
{
    if (!value.home || value.home == home_ || value.home == recorder_.home_)
        return;
    recorder_.fail(at, "a value of " + home_name(*value.home) + " is used in " + home_name(*home_),
                   "make values where they are used");
}

void Recording::set(const Term& target, const Term& value, Position at)
{
    const bool sets_results = part_ == Part::finish || part_ == Part::empty;
    const bool sets_outputs = part_ == Part::map || part_ == Part::scan;
    const bool is_result = target.home && !target.home->definition;
    const auto& op = recorder_.operator_;
    const bool is_output =
        is_result && std::ranges::find(op.outputs, target.name, &ResultField::name) != op.outputs.end();
    if (!target.home)
        recorder_.fail(at, "field '" + target.name + "' is of a state that no operator has made",
                       "use the states that lift, combine and finish are given");
    if (is_result && target.home != recorder_.home_)
        recorder_.fail(
            at,
            "result '" + target.name + "' of " + home_name(*target.home) + " is set in " + home_name(*home_),
            "declare results where they are used");
    if (is_output != sets_outputs && (is_output || is_result))
        recorder_.fail(
            at, (is_output ? "output '" : "result '") + target.name + "' is set in " + part_name(part_),
            "map and scan set the outputs of elements; finish and empty set results");
    if (is_result && !is_output && !sets_results)
        recorder_.fail(at, "result '" + target.name + "' is set in " + part_name(part_),
                       "finish and empty set results; lift and combine set the fields of the state");
    if (!is_result && target.expression.has_value())
        recorder_.fail(at, "field '" + target.expression->name + "' of an operand is set",
                       sets_results ? "finish sets results: Result<float> mean(op, \"mean\")"
                                    : "set the fields of the state that combine makes, its third argument");
    if (!is_result && target.home != home_)
        recorder_.fail(
            at,
            "field '" + target.name + "' of " + home_name(*target.home) + " is set in " + home_name(*home_),
            "set the fields of the state that this part is given");
    check_home(value, at);
    block_.assignments.push_back({target.name, value.expression, at});
}

Term Recording::let(const std::string& name, const Term& value, Type type, Position at)
{
    check_home(value, at);
    if (value.untyped)
        recorder_.untyped_lets_.push_back({&block_, block_.lets.size(), type});
    block_.lets.push_back({name, value.expression, at});
    return {make_name(name, at), home_, value.untyped};
}

Term Recording::field(Operand operand) const
{
    const auto& field = recorder_.operator_.state.front();
    return {make_field(operand, field.name, field.position), home_};
}

void Recording::give(const Term& value, std::optional<Type> type, Position at, std::optional<Type> first)
{
    auto& op = recorder_.operator_;
    check_home(value, at);
    if (part_ == Part::lift || part_ == Part::combine || part_ == Part::append) {
        block_.assignments.push_back({op.state.front().name, value.expression, at});
        return;
    }
    if (op.results.empty() && !first)
        recorder_.fail(
            at, part_name(part_) + " of operator " + op.name + " gives a number without a type",
            "write 0.0f or cast<double>(0), say, or declare the result: Result<float> mean(op, \"mean\")");
    if (op.results.empty())
        op.results.push_back({kResultName, *first, at});
    if (op.results.size() > 1)
        recorder_.fail(at,
                       part_name(part_) + " gives one value, but operator " + op.name + " has " +
                           std::to_string(op.results.size()) + " results",
                       "set each of them");
    const auto& result = op.results.front();
    if (type && *type != result.type)
        recorder_.fail(at,
                       "result '" + result.name + "' is " + std::string(name(result.type)) + ", but " +
                           part_name(part_) + " gives " + std::string(name(*type)),
                       "convert it with cast<T>(x)");
    block_.assignments.push_back({result.name, value.expression, at});
}

void Recording::give_output(const Term& value, std::optional<Type> type, Position at,
                            std::optional<Type> first)
{
    auto& op = recorder_.operator_;
    check_home(value, at);
    if (op.outputs.empty() && !first)
        recorder_.fail(at, part_name(part_) + " of operator " + op.name + " gives a number without a type",
                       "write 0.0f or cast<double>(0), say, or declare the output: Each<float> y(op, \"y\")");
    if (op.outputs.empty())
        op.outputs.push_back({kResultName, *first, at});
    if (op.outputs.size() > 1)
        recorder_.fail(at,
                       part_name(part_) + " gives one value, but operator " + op.name + " has " +
                           std::to_string(op.outputs.size()) + " outputs",
                       "set each of them");
    const auto& output = op.outputs.front();
    if (type && *type != output.type)
        recorder_.fail(at,
                       "output '" + output.name + "' is " + std::string(name(output.type)) + ", but " +
                           part_name(part_) + " gives " + std::string(name(*type)),
                       "convert it with cast<T>(x)");
    block_.assignments.push_back({output.name, value.expression, at});
}

void Recording::reverse() const { recorder_.operator_.scan->reverse = true; }

void Recording::give(const State& operand, Position at)
{
    const auto& whole = operand.whole();
    if (whole.home != home_ || !whole.expression.has_value())
        recorder_.fail(at, "combine returns a state that is none of its operands",
                       "return one of them, or set a third: op.combine([](auto a, auto b, auto& s) { ... })");
    for (const auto& field : recorder_.operator_.state)
        block_.assignments.push_back({field.name, make_field(whole.expression->operand, field.name, at), at});
}

void set_handle(const Term& target, const Term& value, Position at)
{
    recording(target.name.empty() && target.expression.has_value() ? target.expression->name : target.name,
              at)
        .set(target, value, at);
}

Term let_handle(const std::string& name, const Term& value, Type type, Position at)
{
    return recording("let(\"" + name + "\")", at).let(name, value, type, at);
}

Term place_handle(const char* name, Position at)
{
    if (t_recording != nullptr)
        return {make_name(name, at), t_recording->home()};
    if (t_definition != nullptr)
        return {make_name(name, at), t_definition->home_};
    refuse_outside(std::string(name) + "()", at);
}

void require_entry(const std::string& array, int number, int count, Position at)
{
    if (number < 0 || number >= count)
        throw spec_error(
            nullptr, at, "'" + array + "' has no entry " + std::to_string(number),
            count == 1 ? "its only one is 0" : "they run from 0 to " + std::to_string(count - 1));
}

Making::Making(const Recording& recording, std::optional<Operand> operand)
    : home_(recording.home()), operand_(operand), outer_(t_making)
{
    t_making = this;
}

Making::Making(Recorder& recorder) : declares_(&recorder), outer_(t_making) { t_making = this; }

Making::~Making() { t_making = outer_; }

Term Making::field(const StateField& field, const Term* identity)
{
    if (identity != nullptr && identity->home)
        throw spec_error(
            nullptr, field.position,
            "the identity of '" + field.name + "' is made of a value of " + home_name(*identity->home),
            "an identity is made of numbers");
    if (t_making == nullptr)
        return {Expression(), nullptr, false, field.name};
    if (t_making->declares_ != nullptr)
        t_making->declares_->add_field(field);
    Term term{Expression(), t_making->home_, false, field.name};
    if (t_making->operand_)
        term.expression = make_field(*t_making->operand_, field.name, field.position);
    return term;
}

Term Making::state()
{
    Term term;
    if (t_making != nullptr)
        term.home = t_making->home_;
    if (t_making != nullptr && t_making->operand_)
        term.expression = make_field(*t_making->operand_, "");
    return term;
}

Recorder::Recorder(std::string name, Position at) : outer_(t_definition), outer_recording_(t_recording)
{
    t_definition = this;
    t_recording = nullptr;
    operator_.name = std::move(name);
    operator_.position = at;
    home_ = std::make_shared<const Home>(Home{operator_.name, "", nullptr});
}

Recorder::~Recorder()
{
    t_definition = outer_;
    t_recording = outer_recording_;
}

void Recorder::fail(Position at, const std::string& message, const std::string& hint) const
{
    throw spec_error(nullptr, at.file != nullptr ? at : operator_.position, message, hint);
}

Recorder& Recorder::commutative()
{
    operator_.laws.commutative = true;
    return *this;
}

Recorder& Recorder::idempotent()
{
    operator_.laws.idempotent = true;
    return *this;
}

Recorder& Recorder::describe(std::string text)
{
    operator_.description = std::move(text);
    return *this;
}

Term Recorder::add_parameter(std::string name, Type type, bool table, Position at, bool row)
{
    operator_.parameters.push_back({name, type, table, at, false, row});
    return {make_name(std::move(name), at), home_};
}

Term Recorder::add_scalar(std::string name, Type type, Position at)
{
    operator_.parameters.push_back({name, type, true, at, true});
    return {make_gather(std::move(name), Expression(0), at), home_};
}

Term Recorder::add_result(std::string name, Type type, Position at)
{
    operator_.results.push_back({name, type, at});
    return {Expression(), home_, false, std::move(name)};
}

Term Recorder::add_output(std::string name, Type type, Position at)
{
    operator_.outputs.push_back({name, type, at});
    return {Expression(), home_, false, std::move(name)};
}

/// Gives each unused local that holds a plain number the number's C++ type.
void Recorder::settle_lets()
{
    for (const auto& [block, place, type] : untyped_lets_)
        if (auto& let = block->lets[place]; !uses_name(*block, let.name))
            let.value = make_convert(type, let.value, let.position);
}

void Recorder::check_parts() const
{
    const auto& op = operator_;
    const auto said = [&](Recording::Part part) { return said_[static_cast<std::size_t>(part)]; };
    if (op.state.empty())
        fail(op.position, "operator " + op.name + " has no state",
             "give its state a field: Field<float> sum{\"sum\", 0}");
    if (std::ranges::all_of(op.parameters, &Parameter::table))
        fail(op.position, "operator " + op.name + " has no column",
             "declare one, whose length is the number of elements: Column<float> x(op, \"x\")");
    if (!said(Recording::Part::lift))
        fail(op.position, "operator " + op.name + " has no lift",
             "say what state an element is: op.lift([&](auto& s) { ... })");
    if (!said(Recording::Part::combine))
        fail(op.position, "operator " + op.name + " has no combine",
             "say what state two neighbouring ones are: op.combine([](auto a, auto b, auto& s) { ... })");
    for (const auto* part : {&op.lift, &op.combine})
        if (part->assignments.empty())
            fail(
                part->position,
                std::string(part == &op.lift ? "lift" : "combine") + " of operator " + op.name +
                    " sets nothing",
                "set every field of the state that it is given, as in s." + op.state.front().name + " = ...");
    for (const auto* part : {&op.finish, &op.empty})
        if (*part && (*part)->assignments.empty() && op.results.empty())
            fail((*part)->position,
                 std::string(part == &op.finish ? "finish" : "empty") + " of operator " + op.name +
                     " gives no result",
                 "return one value, or declare results and set them: Result<float> mean(op, \"mean\")");
}

void Recorder::check_tables() const
{
    for (const auto& table : operator_.parameters) {
        const auto reads = [&](const auto& said) { return reads_table(said.value, table.name); };
        const auto is_read_in = [&](const Block& block) {
            return std::ranges::any_of(block.lets, reads) || std::ranges::any_of(block.assignments, reads);
        };
        if (table.table && !table.scalar && !is_read_in(operator_.lift) &&
            !(operator_.map && is_read_in(*operator_.map)) &&
            !(operator_.scan && is_read_in(operator_.scan->block)))
            fail(table.position, "table '" + table.name + "' is never read",
                 "read it in lift, map or scan, as in " + table.name + "[index()], or leave it out");
    }
}

Operator Recorder::build(std::optional<Type> only_type)
{
    check_parts();
    settle_lets();
    if (operator_.map) {
        for (auto& let : operator_.map->lets)
            let.value = with_results_named(let.value);
        for (auto& assignment : operator_.map->assignments)
            assignment.value = with_results_named(assignment.value);
    }
    if (operator_.results.empty() && only_type && operator_.outputs.empty())
        operator_.results.push_back({kResultName, *only_type, operator_.position});
    auto checked = check(operator_);
    check_tables();
    return checked;
}

}  // namespace segfold
