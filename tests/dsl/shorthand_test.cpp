// Functions of the user, arrays, loops, products and scalars: the operators into which they expand, and their
// C++ form.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "dsl/cpp/define.h"
#include "dsl/derived.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::shorthand_test {
namespace {

/// Reads the operator of `text`. Printing and reading it again must give the same operator.
Operator read(const std::string& text)
{
    auto op = parse_operator("test", text);
    EXPECT_TRUE(same(parse_operator("printed", print(op)), op)) << print(op);
    return op;
}

void expect_same(const std::string& text, const std::string& written_out)
{
    const auto op = read(text);
    EXPECT_TRUE(same(op, parse_operator("written out", written_out))) << print(op);
}

TEST(Shorthand, AFunctionIsWrittenOutWhereItIsCalled)
{
    expect_same(
        "operator f(x: f32) -> f32 { state { s: f32 = 0; n: f32 = twice(0) }"
        "lift { s = twice(x + 1); n = square(square(x)) } def twice(v) = v + v;"
        "combine(a, b) { s = size(a) + b.s; n = size(b) } def square(v) = v * v def size(p) = p.s + p.n"
        " finish twice(s) }",
        "operator f(x: f32) -> f32 { state { s: f32 = 0; n: f32 = 0 + 0 }"
        "lift { s = x + 1 + (x + 1); n = x * x * (x * x) }"
        "combine(a, b) { s = a.s + a.n + b.s; n = b.s + b.n } finish s + s }");
}

TEST(Shorthand, FunctionsTakeTablesAndArrays)
{
    expect_same(
        "operator f(c: i32, t: table f32) -> f32 { def at(t, i) = t[i] def last(p) = p[1] "
        "state s: f32[2] = 0 lift { s[0] = at(t, c); s[1] = 0 } "
        "combine(a, b) { s[0] = last(a.s); s[1] = at(b.s, 0) } finish at(s, 1) }",
        "operator f(c: i32, t: table f32) -> f32 { state { s_0: f32 = 0; s_1: f32 = 0 } "
        "lift { s_0 = t[c]; s_1 = 0 } combine(a, b) { s_0 = a.s_1; s_1 = b.s_0 } finish s_1 }");
}

TEST(Shorthand, LoopsAreWrittenOut)
{
    expect_same(
        "operator f(x: i32) -> (n: i32[3]) { state n: i32[3] = 0 "
        "lift { for k in 0..3 { n[k] = x == k ? k * k : 0 } } "
        "combine(a, b) { for k in 0..3 { let t = a.n[2 - k]; n[k] = k > 0 && k != 2 ? t : t + b.n[k] } } }",
        "operator f(x: i32) -> (n_0: i32, n_1: i32, n_2: i32) "
        "{ state { n_0: i32 = 0; n_1: i32 = 0; n_2: i32 = 0 } "
        "lift { n_0 = x == 0 ? 0 : 0; n_1 = x == 1 ? 1 : 0; n_2 = x == 2 ? 4 : 0 } "
        "combine(a, b) { let t_0 = a.n_2; let t_1 = a.n_1; let t_2 = a.n_0; "
        "n_0 = t_0 + b.n_0; n_1 = t_1; n_2 = t_2 + b.n_2 } }");
}

// Each of 4096 locals needs a free name. A search through all locals for each name would take minutes.
TEST(Shorthand, ManyRoundsAreReadAtOnce)
{
    const auto begin = std::chrono::steady_clock::now();
    const auto op = parse_operator(
        "test",
        "operator f(x: i32) -> i32 { state s: i32 = 0 "
        "lift { for i in 0..64 { for j in 0..64 { let y = x } } for k in 0..1 { let y = x + 1; s = y } } "
        "combine(a, b) a + b }");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    ASSERT_EQ(op.lift.lets.size(), 4097u);
    EXPECT_EQ(op.lift.lets.front().name, "y_0");
    EXPECT_EQ(op.lift.lets.back().name, "y_4096");
}

TEST(Shorthand, LoopsNestAndMayHaveNoRound)
{
    expect_same(
        "operator f(x: i32) -> (n: i32[3]) { state n: i32[3] = 0 "
        "lift { for k in 0..3 { n[k] = x } for k in 3..3 { n[k] = nothing[7] } } "
        "combine(a, b) { let s[0] = 0 * a.n[0]; "
        "for i in 0..2 { for k in i + 1..3 { let s[2 * i + k] = a.n[i] + b.n[k] } } "
        "for k in 0..3 { n[k] = s[k < 2 ? k + 1 : 2] } } }",
        "operator f(x: i32) -> (n_0: i32, n_1: i32, n_2: i32) "
        "{ state { n_0: i32 = 0; n_1: i32 = 0; n_2: i32 = 0 } lift { n_0 = x; n_1 = x; n_2 = x } "
        "combine(a, b) { let s_0 = 0 * a.n_0; let s_1 = a.n_0 + b.n_1; let s_2 = a.n_0 + b.n_2; "
        "let s_4 = a.n_1 + b.n_2; n_0 = s_1; n_1 = s_2; n_2 = s_2 } }");
}

TEST(Shorthand, AComputedIndexChoosesAndTakesTheLastEntryOutside)
{
    expect_same(
        "operator f(x: i32) -> i32 { state { n: i32[3] = 0; i: i32 = 0 } "
        "lift { for k in 0..3 { n[k] = x } i = x } "
        "combine(a, b) { for k in 0..3 { n[k] = a.n[b.i] } i = b.i } finish n[i] }",
        "operator f(x: i32) -> i32 { state { n_0: i32 = 0; n_1: i32 = 0; n_2: i32 = 0; i: i32 = 0 } "
        "lift { n_0 = x; n_1 = x; n_2 = x; i = x } "
        "combine(a, b) { n_0 = b.i == 0 ? a.n_0 : b.i == 1 ? a.n_1 : a.n_2; "
        "n_1 = b.i == 0 ? a.n_0 : b.i == 1 ? a.n_1 : a.n_2; "
        "n_2 = b.i == 0 ? a.n_0 : b.i == 1 ? a.n_1 : a.n_2; i = b.i } "
        "finish i == 0 ? n_0 : i == 1 ? n_1 : n_2 }");
}

TEST(Shorthand, ArraysOfTheStateAreResultsWhereNoneAreDeclared)
{
    expect_same(
        "operator f(x: i32) { state n: i32[2] lift { for k in 0..2 { n[k] = x + k } } "
        "combine(a, b) { n[0] = a.n[0]; n[1] = b.n[1] } empty { for k in 0..2 { n[k] = k } } }",
        "operator f(x: i32) { state { n_0: i32; n_1: i32 } lift { n_0 = x + 0; n_1 = x + 1 } "
        "combine(a, b) { n_0 = a.n_0; n_1 = b.n_1 } empty { n_0 = 0; n_1 = 1 } }");
}

TEST(Shorthand, ItsWordsMayBeNames)
{
    expect_same(
        "operator f(for: i32, scalar: i32) -> (use: i32) { state { def: i32; use: i32 } "
        "lift { def = for; use = scalar } combine(def, for) { let in = def.use; use = in; "
        "def = for.def } finish use + def empty 0 }",
        "operator f(for: i32, scalar: i32) -> (use: i32) { state { def: i32; use: i32 } "
        "lift { use = scalar; def = for } combine(def, for) { let in = def.use; "
        "def = for.def; use = in } finish { use = use + def } empty { use = 0 } }");
}

TEST(Shorthand, ArraysInCpp)
{
    struct Bins : State {
        FieldArray<int, 4> bins{"bins", 0};
    };
    const auto built = define<Bins>("bins", [](auto& op) {
        Column<int> x(op, "x");
        Scalar<int> low(op, "low");
        op.lift([&](Bins& s) {
            for (int k = 0; k < 4; ++k)
                s.bins[k] = select(x - low == k, 1, 0);
        });
        op.combine([](Bins a, Bins b, Bins& s) {
            for (int k = 0; k < 4; ++k)
                s.bins[k] = a.bins[k] + b.bins[k];
        });
        op.commutative();
    });
    const auto text = read(
        "operator bins(x: i32, low: scalar i32) -> (bins: i32[4]) { state bins: i32[4] = 0 "
        "lift { for k in 0..4 { bins[k] = x - low == k ? 1 : 0 } } "
        "combine(a, b) { for k in 0..4 { bins[k] = a.bins[k] + b.bins[k] } } laws commutative }");
    EXPECT_TRUE(same(built, text)) << print(built) << print(text);
    EXPECT_NE(print(text).find("x - low == 0"), std::string::npos) << print(text);
    EXPECT_NE(print(text).find("low: scalar i32"), std::string::npos) << print(text);
}

TEST(Shorthand, ProductsJoinStatesAndResults)
{
    const auto both = standard_operator("mean_variance") & standard_operator("argmax");
    EXPECT_TRUE(same(parse_operator("printed", print(both)), both)) << print(both);
    EXPECT_TRUE(both.laws.commutative);
    EXPECT_FALSE(both.laws.idempotent);
    const auto used = read("operator mean_variance_and_argmax(x: f32) { use mean_variance use argmax(x) }");
    EXPECT_TRUE(same(used, both)) << print(used) << print(both);
    expect_same(
        "operator both(v: f32, w: f32) { use sum_f32(v * w) as p; use sum(w) as q }",
        "operator both(v: f32, w: f32) -> (p: f32, q: f32) { state { p_sum: f32 = 0; q_sum: f32 = 0 } "
        "lift { p_sum = v * w; q_sum = w } "
        "combine(a, b) { p_sum = a.p_sum + b.p_sum; q_sum = a.q_sum + b.q_sum } laws commutative }");
    expect_same(
        "operator both(x: i32) { use keep_first use max }",
        "operator both(x: i32) -> (keep_first: i32, max: i32) { state { first: i32; greatest: i32 } "
        "lift { first = x; greatest = x } "
        "combine(a, b) { first = a.first; greatest = max(a.greatest, b.greatest) } laws idempotent }");
}

/// An operator for any type takes the type of its arguments, however these are computed.
TEST(Shorthand, ExpressionsSayOfWhichTypeAnOperatorIs)
{
    for (const auto& [argument, type] :
         {std::pair("v * w", "f32"), std::pair("2 * (1 + v)", "f32"), std::pair("-w", "f32"),
          std::pair("i64(v)", "i64"), std::pair("n > 3 ? v : 0", "f32"), std::pair("min(n, 7)", "i32"),
          std::pair("index", "i64"), std::pair("t[n]", "f64"), std::pair("least", "u8"),
          std::pair("popcount(n) + 1", "i32")}) {
        const auto text = [&](const std::string& suffix) {
            return "operator o(v: f32, w: f32, n: i32, t: table f64, least: scalar u8) { use sum" + suffix +
                   "(" + argument + ") as total }";
        };
        EXPECT_TRUE(same(read(text("")), read(text("_" + std::string(type))))) << argument;
    }
    const auto generic =
        parse_operator("test", "operator o(x: T, w: T) { use sum(x * w) as total }", Type::i16);
    EXPECT_EQ(generic.state[0].type, Type::i16) << print(generic);
    EXPECT_THROW(read("operator o(v: f32) { use sum(1) as n }"), SpecError);
}

TEST(Shorthand, LocalsOfAProductAreKeptApart)
{
    const auto twice = standard_operator("argmax") & standard_operator("argmin");
    EXPECT_TRUE(same(parse_operator("printed", print(twice)), twice)) << print(twice);
    EXPECT_EQ(twice.results[0].name, "argmax_value");
    EXPECT_EQ(twice.combine.lets[1].name, "argmin_later");
    const auto captured = read("operator f(later: f32) { use argmax(later) use argmin(later) }");
    EXPECT_EQ(captured.combine.lets.size(), 2u) << print(captured);
}

}  // namespace
}  // namespace segfold::shorthand_test
