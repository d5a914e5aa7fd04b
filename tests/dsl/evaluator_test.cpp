// Runs the parts of operators state by state: places, tables, conditionals, identities, empty segments,
// precision. evaluator_arithmetic_test.cpp has single operations.
#include "dsl/evaluation/evaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/evaluate.h"
#include "tests/common/message_of.h"

namespace segfold::evaluator_test {
namespace {

Bytecode compile(const std::string& text) { return compile_bytecode(parse_operator("test", text)); }

/// Folds one column of f32 as one segment in the precision of `Real`.
template <class Real>
double fold(const Bytecode& bytecode, const std::vector<float>& values)
{
    Evaluator<Real> evaluator(bytecode);
    std::vector<Slot<Real>> total(evaluator.state_fields()), next(total), result(evaluator.result_fields());
    const void* columns[] = {values.data()};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        evaluator.lift(columns, at, at, 0, next.data());
        if (i == 0)
            total = next;
        else
            evaluator.combine(total.data(), next.data(), total.data());
    }
    evaluator.finish(total.data(), 0, static_cast<std::int64_t>(values.size()), result.data());
    double value = 0;
    if (bytecode.results[0] == Type::f64) {
        Machine<Real>::store(result[0], Type::f64, &value, 0);
        return value;
    }
    float single = 0;
    Machine<Real>::store(result[0], Type::f32, &single, 0);
    return single;
}

TEST(Evaluator, IndexPositionSegmentAndLength)
{
    const auto bytecode = compile(R"(operator f(x: u8) -> (places: i64, ends: i64) {
  state places: i64
  lift index * 10000 + position * 100 + segment
  combine(a, b) a + b
  finish { places = places; ends = segment * 100 + length }
  empty  { places = segment; ends = 100 + length }
})");
    Evaluator<double> evaluator(bytecode);
    const std::uint8_t x[8] = {};
    const void* columns[] = {x};
    Slot<double> state{}, result[2]{};
    evaluator.lift(columns, 7, 3, 2, &state);
    EXPECT_EQ(state.bits, 70302u);
    evaluator.finish(&state, 2, 12, result);
    EXPECT_EQ(result[0].bits, 70302u);
    EXPECT_EQ(result[1].bits, 212u);
    evaluator.empty(9, result);
    EXPECT_EQ(result[0].bits, 9u);
    EXPECT_EQ(result[1].bits, 100u);
    Slot<double> value{};
    evaluator.lift(&value, std::int64_t{1} << 40, 0, 5, &state);
    EXPECT_EQ(state.bits, (std::uint64_t{1} << 40) * 10000 + 5);
}

TEST(Evaluator, CombineTakesTheEarlierOperandFirst)
{
    const auto bytecode =
        compile("operator f(x: i32) -> i32 { state s: i32 lift x combine(early, late) early * 10 + late }");
    Evaluator<double> evaluator(bytecode);
    Slot<double> early{.bits = 1}, late{.bits = 2}, out{};
    evaluator.combine(&early, &late, &out);
    EXPECT_EQ(out.bits, 12u);
    evaluator.combine(&early, &late, &late);
    EXPECT_EQ(late.bits, 12u) << "the result may be written over an operand";
}

TEST(Evaluator, FieldsAreSetTogether)
{
    const auto bytecode = compile(
        "operator f(x: i32) { state { p: i32; q: i32 } lift { p = x; q = -x } "
        "combine(a, b) { p = b.q; q = a.p } }");
    Evaluator<double> evaluator(bytecode);
    Slot<double> a[2] = {{.bits = 1}, {.bits = 2}}, b[2] = {{.bits = 3}, {.bits = 4}};
    evaluator.combine(a, b, a);
    EXPECT_EQ(a[0].bits, 4u);
    EXPECT_EQ(a[1].bits, 1u);
}

class Gather : public testing::Test {
protected:
    std::string message(std::int64_t i)
    {
        return test::message_of<InputError>([&] { at(i); });
    }
    /// The message for a read of v outside of its length.
    static std::string of_v(const std::string& index)
    {
        return "table 'v' has 4 entries; element 0 reads v[" + index + "], and indices run from 0 to 3";
    }
    float at(std::int64_t i)
    {
        const auto bytecode = compile(text);
        Evaluator<double> evaluator(bytecode, {{weights, 2}, {values, 4}});
        Slot<double> state{};
        const void* columns[] = {&i};
        evaluator.lift(columns, 0, 0, 0, &state);
        return state.single;
    }
    std::string text =
        "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift v[i] combine(a, b) a }";
    const double weights[2] = {0.5, 0.25};
    const float values[4] = {10, 11, 12, 13};
};

TEST_F(Gather, ReadsWithinTheTable)
{
    EXPECT_EQ(at(0), 10);
    EXPECT_EQ(at(3), 13);
    text =
        "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift f32(w[i]) * v[3 - i] "
        "combine(a, b) a }";
    EXPECT_EQ(at(1), 3);
}

TEST_F(Gather, RefusesWhatLiesOutside)
{
    EXPECT_EQ(message(4), of_v("4"));
    EXPECT_EQ(message(-1), of_v("-1"));
    EXPECT_EQ(message(std::numeric_limits<std::int64_t>::min()), of_v("-9223372036854775808"));
    text =
        "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift f32(w[i32(i)]) + v[i] "
        "combine(a, b) a }";
    EXPECT_EQ(message(2), "table 'w' has 2 entries; element 0 reads w[2], and indices run from 0 to 1");
    EXPECT_EQ(message((std::int64_t{1} << 32) + 1), of_v("4294967297")) << "the other index wraps to 1";
}

TEST_F(Gather, NarrowAndUnsignedIndicesAreExtended)
{
    text =
        "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift v[u8(i)] combine(a, b) a "
        "}";
    EXPECT_EQ(at(258), 12);
    EXPECT_EQ(message(-1), of_v("255"));
    text =
        "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift v[i8(i)] combine(a, b) a "
        "}";
    EXPECT_EQ(message(255), of_v("-1"));
}

TEST_F(Gather, UnsignedIndicesAreShownAsTheyAre)
{
    text =
        "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift v[u64(i)] combine(a, b) a "
        "}";
    EXPECT_EQ(message(-1), of_v("18446744073709551615"));
}

TEST(Evaluator, SaysWhichIndicesAShortTableHas)
{
    const auto bytecode =
        compile("operator f(i: u64, v: table i8) -> i8 { state s: i8 lift v[i] combine(a, b) a }");
    const auto message = [&](std::int64_t length) {
        return std::string(outside_table(bytecode, {true, 0, 7, Type::u64}, length, 4181).what());
    };
    EXPECT_EQ(message(0),
              "table 'v' has no entries; element 4181 reads v[7], and an empty table cannot be read");
    EXPECT_EQ(message(1), "table 'v' has 1 entry; element 4181 reads v[7], and its only index is 0");
    EXPECT_EQ(message(7), "table 'v' has 7 entries; element 4181 reads v[7], and indices run from 0 to 6");
}

TEST_F(Gather, TheUntakenSideIsNotRead)
{
    const auto lifting = [&](const std::string& lift) {
        text = "operator f(i: i64, w: table f64, v: table f32) -> f32 { state s: f32 lift " + lift +
               " combine(a, b) a }";
    };
    lifting("i < 4 ? v[i] : -1");
    EXPECT_EQ(at(2), 12);
    EXPECT_EQ(at(1000), -1);
    lifting("i >= 4 ? -1 : v[i]");
    EXPECT_EQ(at(2), 12);
    EXPECT_EQ(at(1000), -1);
    lifting("i < 2 ? f32(w[i]) : i < 4 ? v[i] : -1");
    EXPECT_EQ(at(1), 0.25f);
    EXPECT_EQ(at(3), 13);
    EXPECT_EQ(at(4), -1);
    lifting("i < 4 && v[i] > 11 ? 1 : 0");
    EXPECT_EQ(at(1), 0);
    EXPECT_EQ(at(2), 1);
    EXPECT_EQ(at(9), 0);
    lifting("i >= 4 || v[i] > 11 ? 1 : 0");
    EXPECT_EQ(at(1), 0);
    EXPECT_EQ(at(9), 1);
    lifting("(i < 4 ? v[i] : 0) + (i < 4 ? 0 : v[i - 4])");
    EXPECT_EQ(at(3), 13);
    EXPECT_EQ(at(5), 11);
    lifting("{ let r = v[i]; s = i < 4 ? r : 0 }");
    EXPECT_EQ(message(9), of_v("9")) << "a let is always evaluated";
}

TEST(Evaluator, IdentitiesMayBeComputed)
{
    const auto bytecode = compile(R"(operator f(x: f32) -> (p: f32, q: f64, r: i16, s: bool, t: f16) {
  state { p: f32 = -inf; q: f64 = 1.0 / 3.0; r: i16 = lowest(i16) - 1; s: bool = 1.0 < f32(2); t: f16 = 1.0 / 3.0 }
  lift  { p = x; q = 0; r = 0; s = true; t = 0 }
  combine(a, b) { p = max(a.p, b.p); q = a.q; r = a.r; s = a.s; t = a.t }
})");
    EXPECT_TRUE(bytecode.has_identity);
    Evaluator<double> evaluator(bytecode);
    Slot<double> state[5], result[5];
    evaluator.identity(state);
    EXPECT_EQ(state[0].single, -INFINITY);
    EXPECT_EQ(state[1].real, 1.0 / 3.0);
    EXPECT_EQ(static_cast<std::int16_t>(state[2].bits), 32767);
    EXPECT_EQ(state[3].bits, 1u);
    EXPECT_EQ(state[4].single, 0.333251953125f);
    evaluator.empty(0, result);
    EXPECT_EQ(result[1].real, 1.0 / 3.0);
    Evaluator<long double> wide(bytecode);
    Slot<long double> exact[5];
    wide.identity(exact);
    EXPECT_EQ(exact[1].real, 1.0L / 3.0L);
    EXPECT_EQ(exact[4].real, 1.0L / 3.0L) << "nothing is rounded";
}

TEST(Evaluator, EmptySegmentsFinishTheIdentityUnlessSaidOtherwise)
{
    const auto empty = [](const std::string& identity, const std::string& rest) {
        const auto bytecode = compile("operator f(x: f32) -> f32 { state s: f32" + identity +
                                      " lift x combine(a, b) a + b " + rest + " }");
        Evaluator<double> evaluator(bytecode);
        Slot<double> result{};
        evaluator.empty(3, &result);
        return result.single;
    };
    EXPECT_EQ(empty(" = 5", ""), 5);
    EXPECT_EQ(empty(" = 5", "finish s * 2 + f32(segment) + f32(length)"), 13);
    EXPECT_EQ(empty(" = 5", "finish s * 2 empty 7"), 7);
    EXPECT_EQ(empty("", "empty f32(segment) + 0.5"), 3.5f);
    const auto none = compile("operator f(x: f32) -> f32 { state s: f32 lift x combine(a, b) a }");
    EXPECT_FALSE(none.has_identity || none.has_empty);
    Evaluator<double> evaluator(none);
    Slot<double> state{};
    EXPECT_THROW(evaluator.identity(&state), InternalError);
    EXPECT_THROW(evaluator.empty(0, &state), InternalError);
}

TEST(Evaluator, WorkingPrecisionRoundsAndWidePrecisionDoesNot)
{
    const auto sum = compile_bytecode(standard_operator("sum", Type::f32));
    const std::vector<float> values = {1e8f, 1, -1e8f};
    EXPECT_EQ(fold<double>(sum, values), 0);
    EXPECT_EQ(fold<long double>(sum, values), 1);
    const auto mean = compile_bytecode(standard_operator("mean", Type::f32));
    EXPECT_EQ(fold<long double>(mean, values), 1.0 / 3.0);
    const auto third =
        compile("operator f(x: f32) -> f64 { state s: f32 lift x / 3 combine(a, b) a + b finish f64(s) }");
    EXPECT_EQ(fold<double>(third, {1}), static_cast<double>(1.0f / 3.0f));
    EXPECT_EQ(fold<long double>(third, {1}), 1.0 / 3.0);
    const auto narrow =
        compile("operator f(x: f32) -> f64 { state s: f16 lift f16(x) combine(a, b) a + b finish f64(s) }");
    EXPECT_EQ(fold<double>(narrow, {2048, 1}), 2048);
    EXPECT_EQ(fold<long double>(narrow, {2048, 1}), 2049);
}

TEST(Evaluator, ProgramsRunAgainWithoutTraces)
{
    const auto bytecode = compile(
        "operator f(x: f32, t: table f32) -> f32 { state s: f32 lift x > 0 ? t[0] * x : 1 / x "
        "combine(a, b) a }");
    const float table[] = {3};
    Evaluator<double> evaluator(bytecode, {{table, 1}});
    for (const float x : {2.0f, -4.0f, 2.0f, -4.0f}) {
        const void* columns[] = {&x};
        Slot<double> state{};
        evaluator.lift(columns, 0, 0, 0, &state);
        EXPECT_EQ(state.single, x > 0 ? 3 * x : 1 / x);
    }
}

TEST(Bytecode, ColumnsTablesAndResultsKeepTheirOrder)
{
    const auto bytecode =
        compile(R"(operator f(p: u8, t: table f64, q: i16, u: table f32) -> (m: f16, n: i64) {
  state { x: f32; y: bool } lift { x = f32(t[p]) + u[q]; y = true } combine(a, b) { x = a.x; y = b.y }
  finish { n = i64(x); m = f16(x) }
})");
    EXPECT_EQ(bytecode.columns, (std::vector{Type::u8, Type::i16}));
    EXPECT_EQ(bytecode.column_names, (std::vector<std::string>{"p", "q"}));
    EXPECT_EQ(bytecode.tables, (std::vector{Type::f64, Type::f32}));
    EXPECT_EQ(bytecode.table_names, (std::vector<std::string>{"t", "u"}));
    EXPECT_EQ(bytecode.state, (std::vector{Type::f32, Type::boolean}));
    EXPECT_EQ(bytecode.results, (std::vector{Type::f16, Type::i64}));
    EXPECT_EQ(bytecode.lift.num_inputs, 5);
    EXPECT_EQ(bytecode.combine.num_inputs, 4);
    EXPECT_EQ(bytecode.finish.num_inputs, 4);
}

TEST(Bytecode, LargestOperatorCompiles)
{
    std::string lift = "{ s = 0.5; ";
    for (int i = 0; i < 1500; ++i)
        lift += "let l" + std::to_string(i) + " = x * " + std::to_string(i) + ".25 + (x < " +
                std::to_string(i) + " ? t[0] : -x);";
    const auto bytecode = compile("operator f(x: f32, t: table f32) -> f32 { state s: f32 lift " + lift +
                                  "} combine(a, b) a }");
    const float table[] = {3};
    Evaluator<double> evaluator(bytecode, {{table, 1}});
    const float x = 2;
    const void* columns[] = {&x};
    Slot<double> state{};
    evaluator.lift(columns, 0, 0, 0, &state);
    EXPECT_EQ(state.single, 0.5f);
}

}  // namespace
}  // namespace segfold::evaluator_test
