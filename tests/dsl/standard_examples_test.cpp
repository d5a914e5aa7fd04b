// Every standard operator has a source and an example. The example's result is computed in every grouping.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/text/standard_operators.h"
#include "tests/cli/cli_program.h"

namespace segfold::standard_examples_test {
namespace {

using State = std::vector<Slot<double>>;

struct Example {
    std::map<std::string, std::vector<double>> columns;
    std::vector<double> results;
};

/// "x = 1 2 y = 3 4 -> 5"
Example parse(const std::string& text)
{
    Example example;
    std::istringstream words(text);
    std::string name;
    bool is_result = false;
    for (std::string word; words >> word;) {
        if (word == "->")
            is_result = true;
        else if (word == "=")
            continue;
        else if (!is_result && std::isalpha(static_cast<unsigned char>(word[0])) != 0 && word != "nan")
            name = word;
        else
            (is_result ? example.results : example.columns[name]).push_back(std::stod(word));
    }
    return example;
}

Slot<double> slot_of(Type type, double value)
{
    Slot<double> slot{};
    if (is_float(type))
        Machine<double>::set_real(slot, type, value);
    else
        slot.bits = wrap(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    return slot;
}

/// The value of a slot. A double holds it exactly for every type in this test.
double number_of(Type type, const Slot<double>& held)
{
    std::uint64_t bytes = 0;
    Machine<double>::store(held, type, &bytes, 0);
    Slot<long double> slot{};
    Machine<long double>::load(slot, type, &bytes, 0);
    if (is_float(type))
        return static_cast<double>(slot.real);
    return is_signed_integer(type) ? static_cast<double>(static_cast<std::int64_t>(slot.bits))
                                   : static_cast<double>(slot.bits);
}

/// The states that all groupings of `states`, in their order, give.
std::vector<State> groupings(Evaluator<double>& evaluator, const std::vector<State>& states)
{
    if (states.size() == 1)
        return states;
    std::vector<State> result;
    for (std::size_t cut = 1; cut < states.size(); ++cut) {
        const auto middle = states.begin() + static_cast<std::ptrdiff_t>(cut);
        for (auto left : groupings(evaluator, {states.begin(), middle}))
            for (const auto& right : groupings(evaluator, {middle, states.end()})) {
                State out(left.size());
                evaluator.combine(left.data(), right.data(), out.data());
                result.push_back(out);
            }
    }
    return result;
}

/// The pairs of states, before an element and through it, that a scan may see, in all groupings of each; one
/// pair of blank states for an operator without scan.
std::vector<std::pair<State, State>> running(Evaluator<double>& evaluator, const Operator& op,
                                             const std::vector<State>& states, std::size_t element)
{
    State none(op.state.size());
    if (!op.scan)
        return {{none, none}};
    if (op.has_identity())
        evaluator.identity(none.data());
    const auto here = states.begin() + static_cast<std::ptrdiff_t>(element);
    const auto seen = [&](bool with) {
        return op.scan->reverse ? std::vector<State>(here + (with ? 0 : 1), states.end())
                                : std::vector<State>(states.begin(), here + (with ? 1 : 0));
    };
    const auto earlier = seen(false);
    std::vector<std::pair<State, State>> pairs;
    for (const auto& before : earlier.empty() ? std::vector<State>{none} : groupings(evaluator, earlier))
        for (const auto& through : groupings(evaluator, seen(true)))
            pairs.emplace_back(before, through);
    return pairs;
}

void expect_example(const StandardOperator& standard, Type type)
{
    SCOPED_TRACE(standard.name + "_" + std::string(name(type)) + ": " + standard.example);
    const auto example = parse(standard.example);
    const auto op = standard_operator(standard.name, type);
    const auto bytecode = compile_bytecode(op);
    std::vector<Array> tables, columns;
    std::vector<const void*> column_data;  // for maps, which read columns
    std::vector<TableView> views;
    std::size_t length = 0;
    for (const auto& parameter : op.parameters) {
        ASSERT_TRUE(example.columns.contains(parameter.name)) << parameter.name;
        const auto& values = example.columns.at(parameter.name);
        if (!parameter.table)
            length = values.size();
        Array array(parameter.type, values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            Machine<double>::store(slot_of(parameter.type, values[i]), parameter.type, array.data(),
                                   static_cast<std::int64_t>(i));
        if (!parameter.table)
            column_data.push_back(array.data());
        (parameter.table ? tables : columns).push_back(std::move(array));
    }
    for (const auto& table : tables)
        views.push_back({table.data(), static_cast<std::int64_t>(table.length())});
    Evaluator<double> evaluator(bytecode, views);
    std::vector<State> states;
    for (std::size_t i = 0; i < length; ++i) {
        std::vector<Slot<double>> row;
        for (const auto& parameter : op.parameters)
            if (!parameter.table)
                row.push_back(slot_of(parameter.type, example.columns.at(parameter.name).at(i)));
        State state(op.state.size());
        const auto place = static_cast<std::int64_t>(i);
        evaluator.lift(row.data(), place, place, 0, state.data());
        states.push_back(state);
    }
    const auto num_results = op.keeps_results ? op.results.size() : 0;
    ASSERT_EQ(example.results.size(), num_results + op.outputs.size() * length);
    const auto expect = [&](const ResultField& field, const Slot<double>& held, double expected) {
        EXPECT_NEAR(number_of(field.type, held), expected, 2e-6 * std::max(1.0, std::abs(expected)))
            << field.name;
    };
    for (const auto& last : groupings(evaluator, states)) {
        State results(op.results.size());
        evaluator.finish(last.data(), 0, static_cast<std::int64_t>(length), results.data());
        for (std::size_t r = 0; r < num_results; ++r)
            expect(op.results[r], results[r], example.results[r]);
        const auto expect_outputs = [&](std::size_t i, const State& before, const State& through) {
            const auto place = static_cast<std::int64_t>(i);
            State outputs(op.outputs.size());
            if (op.map)
                evaluator.map(column_data, place, place, 0, static_cast<std::int64_t>(length), results.data(),
                              outputs.data());
            if (op.scan)
                evaluator.scan(column_data, place, place, 0, before.data(), through.data(), outputs.data());
            for (std::size_t o = 0; o < outputs.size(); ++o)
                expect(op.outputs[o], outputs[o], example.results[num_results + o * length + i]);
        };
        for (std::size_t i = 0; i < length; ++i)
            for (const auto& [before, through] : running(evaluator, op, states, i))
                expect_outputs(i, before, through);
    }
}

TEST(StandardExamples, EveryExampleIsTrueInEveryGrouping)
{
    std::size_t examples = 0;
    const auto operators = standard_operators();
    EXPECT_GE(operators.size(), 60u);
    for (const auto& standard : operators) {
        EXPECT_GT(standard.source.size(), 10u) << standard.name;
        if (standard.example.empty())
            continue;
        ++examples;
        for (const Type type : {Type::i32, Type::i64, Type::f32, Type::f64})
            if (std::ranges::find(standard.types, type) != standard.types.end())
                expect_example(standard, type);
    }
    EXPECT_EQ(examples + 1, operators.size()) << "trace alone has a result that nobody could check by hand";
}

TEST(StandardExamples, ThePageIsWhatTheProgramPrints)
{
    std::ifstream file(SEGFOLD_SOURCE_DIR "/dsl/standard/README.md", std::ios::binary);
    std::stringstream page;
    page << file.rdbuf();
    const auto printed = test::ProgramFolder().run({"operators", "--markdown"}).output;
    EXPECT_TRUE(page.str() == printed) << "segfold operators --markdown > dsl/standard/README.md";
}

}  // namespace
}  // namespace segfold::standard_examples_test
