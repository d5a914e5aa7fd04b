#include "dsl/laws/counter_example.h"

#include <fmt/format.h>

#include <algorithm>

namespace segfold {
namespace {

constexpr std::size_t kMostColumns = 96;

/// Lists of more than kMostListed elements show only kShownElements at each end.
constexpr std::size_t kMostListed = 12;
constexpr std::size_t kShownElements = 4;

constexpr std::string_view kOperandNames[] = {"a", "b", "c"};

/// The failure of a law in words, and the formulas of both sides.
struct Wording {
    std::string_view headline, left, right;
};

Wording wording(Equation equation)
{
    switch (equation) {
        case Equation::associative:
            return {"combine is not associative:", "combine(combine(a, b), c)", "combine(a, combine(b, c))"};
        case Equation::identity_left: return {"the identity is not neutral:", "combine(identity, a)", "a"};
        case Equation::identity_right: return {"the identity is not neutral:", "combine(a, identity)", "a"};
        case Equation::identity_twice:
            return {"the identity is not neutral:", "combine(identity, identity)", "identity"};
        case Equation::commutative: return {"combine is not commutative:", "combine(a, b)", "combine(b, a)"};
        case Equation::append:
            return {"append is not combine of what lift makes:", "append(a, x)", "combine(a, lift(x))"};
        case Equation::append_first:
            return {"append is not combine of what lift makes:", "append(identity, x)",
                    "combine(identity, lift(x))"};
        default: return {"combine is not idempotent:", "combine(a, a)", "a"};
    }
}

std::vector<FieldValue> typed(const std::vector<Type>& types, const std::vector<Slot<double>>& slots)
{
    std::vector<FieldValue> values;
    for (std::size_t i = 0; i < types.size(); ++i) {
        FieldValue value{types[i]};
        if (is_float(types[i]))
            value.real = Machine<double>::get_real(slots[i], types[i]);
        else
            value.bits = slots[i].bits;
        values.push_back(value);
    }
    return values;
}

/// Prints a single value alone, as "1". Prints several values with their names: "OPEN x = 1, y = 2 CLOSE".
std::string print_values(const std::vector<std::string>& names, const std::vector<FieldValue>& values,
                         std::string_view open, std::string_view close)
{
    if (values.size() == 1)
        return print(values[0]);
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i)
        text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", names[i], print(values[i]));
    return fmt::format("{}{}{}", open, text, close);
}

/// Prints states and elements of one operator.
class StatePrinter {
public:
    StatePrinter(const Operator& op, const Bytecode& bytecode) : columns_(bytecode.column_names)
    {
        for (const auto& field : op.state)
            fields_.push_back(field.name);
    }

    [[nodiscard]] std::string state(const std::vector<FieldValue>& values) const
    {
        return print_values(fields_, values, "{", "}");
    }

    /// Returns the elements of a state, as ", of x = 1, 2". For a long list, shows only the first and last
    /// elements, and the number of elements.
    [[nodiscard]] std::string origin(const ReachedState& state) const
    {
        const std::size_t count = state.elements.size();
        const auto element = [&](std::size_t i) {
            return print_values(columns_, state.elements[i], "(", ")");
        };
        std::string text = columns_.size() == 1 ? columns_[0] + " = " : "";
        for (std::size_t i = 0; i < count; ++i) {
            if (count > kMostListed && i == kShownElements) {
                text += ", ...";
                i = count - kShownElements;
            }
            text += (i == 0 ? "" : ", ") + element(i);
        }
        if (count > kMostListed)
            text += fmt::format(" ({} elements)", count);
        return ", of " + text + (state.place.empty() ? "" : " from " + state.place + " on");
    }

private:
    std::vector<std::string> fields_, columns_;
};

/// True if the state is equal to its only element.
bool is_element(const ReachedState& state)
{
    bool alike =
        state.elements.size() == 1 && state.elements[0].size() == state.fields.size() && state.place.empty();
    for (std::size_t i = 0; alike && i < state.fields.size(); ++i)
        alike = state.elements[0][i].type == state.fields[i].type &&
                print(state.elements[0][i]) == print(state.fields[i]);
    return alike;
}

/// Joins short states on one line if `one_line` is set; else gives each state its own line.
std::string print_states(const std::vector<std::string>& states, bool one_line)
{
    std::string line;
    std::string lines;
    for (const auto& state : states) {
        line += (line.empty() ? "" : ", ") + state;
        lines += "\n    " + state;
    }
    return one_line && line.size() <= kMostColumns ? "\n    " + line : lines;
}

/// Writes the text of the example. `data` names the elements of the user's data that the example uses; empty
/// if the elements were drawn.
std::string text(const CounterExample& example, const StatePrinter& printer, Equation equation,
                 const std::vector<FieldValue>& identity, const std::string& data)
{
    const bool appends = is_of_append(equation);
    const bool plain = !appends && std::ranges::all_of(example.states, is_element);
    std::vector<std::string> states;
    for (std::size_t i = 0; i < example.states.size(); ++i)
        states.push_back(fmt::format(
            "{} = {}{}", appends && i + 1 == example.states.size() ? "lift(x)" : kOperandNames[i],
            printer.state(example.states[i].fields), plain ? "" : printer.origin(example.states[i])));
    const auto [headline, left, right] = wording(equation);
    auto text = fmt::format("{}{}:", headline.substr(0, headline.size() - 1), data);
    if (!example.scalars.empty()) {
        std::string scalars;
        for (const auto& [name, value] : example.scalars)
            scalars += fmt::format("{}{} = {}", scalars.empty() ? "" : ", ", name, print(value));
        text = fmt::format("{} with {}{}{}:", headline.substr(0, headline.size() - 1), scalars,
                           data.empty() ? "" : ",", data);
    }
    if (equation == Equation::append_first)
        text += fmt::format("\n    identity = {}\n    {}", printer.state(identity), states[0]);
    else if (!identity.empty())
        text += "\n    identity = " + printer.state(identity);
    else if (example.states.size() > 1)
        text += print_states(states, plain);
    text += fmt::format("\n    {} = {}", left, printer.state(example.left));
    if (right == "a")
        text += "\n    " + states[0];
    else if (equation != Equation::identity_twice)
        text += fmt::format("\n    {} = {}", right, printer.state(example.right));
    return text;
}

/// Returns a note that the entries of tables were drawn, so that readers do not look for them in their data.
std::string table_note(const Operator& op)
{
    std::string names;
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar)
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", parameter.name);
    return names.empty()
               ? ""
               : fmt::format("\n    with entries of {} that were made up; laws hold for any", names);
}

/// Returns the index, position and segment of an element as text, as far as lift uses them.
std::string place_text(const Operator& op, const ElementPlace& place, std::size_t start)
{
    const auto at = static_cast<std::int64_t>(start);
    const std::pair<const char*, std::int64_t> names[] = {
        {"index", place.index + at}, {"position", place.position + at}, {"segment", place.segment}};
    std::string text;
    for (const auto& [name, value] : names)
        if (uses_name(op.lift, name))
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    return text;
}

/// Returns text such as " on elements 4 to 6 of the data"; empty if the elements were drawn.
std::string data_text(const LawMachine& machine, std::size_t count)
{
    if (!machine.has_given_tables())
        return "";
    const auto first = machine.places().front().index;
    return count == 1 ? fmt::format(" on element {} of the data", first)
                      : fmt::format(" on elements {} to {} of the data", first,
                                    first + static_cast<std::int64_t>(count) - 1);
}

}  // namespace

CounterExample make_counter_example(const Operator& op, Equation equation, const LawCase& recipes,
                                    LawMachine& machine, LawJudge& judge)
{
    const auto& bytecode = machine.bytecode();
    const auto places = starts(recipes);
    std::vector<std::vector<Slot<double>>> slots(num_states(equation),
                                                 std::vector<Slot<double>>(machine.num_fields()));
    CaseStates<double> states{};
    CounterExample example;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto recipe = taken(equation, i, recipes[i]);
        machine.reach(recipe, places[i], slots[i].data(), recipes.place);
        states[i] = slots[i].data();
        ReachedState reached{typed(bytecode.state, slots[i]), {}};
        if (recipes.place != 0)
            reached.place = place_text(op, machine.places()[recipes.place], places[i]);
        for (const auto& element : recipe)
            reached.elements.push_back(typed(bytecode.columns, element));
        example.states.push_back(std::move(reached));
    }
    std::vector<Slot<double>> element;
    if (const auto last = slots.size(); is_of_append(equation)) {
        element = machine.element<double>(recipes[last - 1].front(), places[last - 1], recipes.place);
        states[2] = element.data();
    }
    double spread = 0;
    judge.compare(equation, states, spread);
    example.scalars = machine.scalars(recipes.place);
    example.left = typed(bytecode.state, judge.sides().left);
    example.right = typed(bytecode.state, judge.sides().right);
    const auto words = wording(equation);
    example.left_side = words.left;
    example.right_side = words.right;
    std::vector<FieldValue> identity;
    if (equation == Equation::identity_left || equation == Equation::identity_right ||
        equation == Equation::append_first)
        identity = typed(bytecode.state, judge.sides().first);
    if (equation == Equation::identity_twice)
        identity = example.right;
    example.text = text(example, StatePrinter(op, bytecode), equation, identity,
                        data_text(machine, starts(recipes)[2] + recipes[2].size())) +
                   (machine.has_given_tables() ? "" : table_note(op));
    return example;
}

}  // namespace segfold
