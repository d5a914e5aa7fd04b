// An operator defined in C++ equals the operator of its text.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/cpp/define.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "tests/dsl/cpp/standard_in_cpp.h"

namespace segfold::cpp_form_test {
namespace {

void expect_same(const Operator& built, const std::string& text)
{
    const auto read = parse_operator("test", text);
    EXPECT_TRUE(same(built, read)) << "built\n" << print(built) << "read\n" << print(read);
    EXPECT_TRUE(same(built, parse_operator("printed", print(built))));
}

struct Streak : State {
    Field<std::int64_t> flights{"flights", 0}, leading{"leading", 0}, trailing{"trailing", 0},
        longest{"longest", 0};
};

struct Moments : State {
    Field<std::int64_t> n{"n", 0};
    Field<float> sum{"sum", 0}, squares{"squares", 0};
};

TEST(CppForm, MapReadsTablesAndScalars)
{
    const auto built = define<Moments>("layer_norm", [](auto& op) {
        Column<float> x(op, "x");
        Column<int> group(op, "group");
        Table<float> weight(op, "weight"), bias(op, "bias");
        Table<bool> mask(op, "mask");
        Scalar<float> least(op, "least");
        op.lift([&](auto& s) {
            s.n = 1;
            s.sum = x;
            s.squares = x * x;
        });
        op.combine([](Moments a, Moments b, Moments& s) {
            s.n = a.n + b.n;
            s.sum = a.sum + b.sum;
            s.squares = a.squares + b.squares;
        });
        op.map([&](Moments s) {
            auto mean = let("mean", s.sum / cast<float>(s.n));
            auto scale =
                let("scale", rsqrt(s.squares / cast<float>(s.n) - mean * mean + least) * weight[segment()]);
            return select(mask[group], (x - mean) * scale + bias[position()], 0);
        });
        op.commutative();
    });
    expect_same(built, R"(operator layer_norm(x: f32, group: i32, weight: table f32, bias: table f32,
                                              mask: table bool, least: scalar f32) -> each f32 {
  state { n: i64 = 0; sum: f32 = 0; squares: f32 = 0 }
  lift { n = 1; sum = x; squares = x * x }
  combine(a, b) { n = a.n + b.n; sum = a.sum + b.sum; squares = a.squares + b.squares }
  map {
    let mean = sum / f32(n);
    let scale = rsqrt(squares / f32(n) - mean * mean + least) * weight[segment];
    result = mask[group] ? (x - mean) * scale + bias[position] : 0
  }
  laws commutative
}
)");
}

TEST(CppForm, ResultsOfTheirOwn)
{
    const auto built = define<Streak>("late_streak", [](auto& op) {
        Column<float> delay(op, "delay");
        Result<std::int64_t> streak(op, "streak"), flights(op, "flights");
        op.lift([&](auto& s) {
            auto late = let("late", cast<std::int64_t>(delay > 15.0f));
            s.flights = 1;
            s.leading = late;
            s.trailing = late;
            s.longest = late;
        });
        op.combine([](Streak a, Streak b, Streak& s) {
            s.flights = a.flights + b.flights;
            s.leading = select(a.leading == a.flights, a.flights + b.leading, a.leading);
            s.trailing = select(b.trailing == b.flights, a.trailing + b.flights, b.trailing);
            s.longest = max(max(a.longest, b.longest), a.trailing + b.leading);
        });
        op.finish([&](auto s) {
            streak = s.longest;
            flights = s.flights;
        });
    });
    expect_same(built, R"(operator late_streak(delay: f32) -> (streak: i64, flights: i64) {
  state { flights: i64 = 0; leading: i64 = 0; trailing: i64 = 0; longest: i64 = 0 }
  lift {
    let late = i64(delay > 15.0);
    flights = 1; leading = late; trailing = late; longest = late
  }
  combine(a, b) {
    flights  = a.flights + b.flights;
    leading  = a.leading == a.flights ? a.flights + b.leading : a.leading;
    trailing = b.trailing == b.flights ? a.trailing + b.flights : b.trailing;
    longest  = max(max(a.longest, b.longest), a.trailing + b.leading)
  }
  finish { streak = longest; flights = flights }
})");
}

struct Count : State {
    Field<int> n{"n", 0};
};

TEST(CppForm, LetOfUntypedNumbers)
{
    const auto built = define<Count>("positive", [](auto& op) {
        Column<float> x(op, "x");
        op.lift([&](auto& s) { s.n = let("p", select(x > 0, 1, 0)); });
        op.combine([](auto a, auto b, auto& s) { s.n = a.n + b.n; });
    });
    expect_same(built,
                "operator positive(x: f32) { state n: i32 = 0 "
                "lift { let p = x > 0 ? 1 : 0; n = p } combine(a, b) a + b }");
}

TEST(CppForm, NumbersAloneKeepTheirTypes)
{
    const auto built = define<Count>("numbers", [](auto& op) {
        Column<float> x(op, "x");
        Table<float> t(op, "t");
        op.lift([&](auto& s) {
            auto p = select(x > 0, 1, 0);
            auto q = let("q", p + 1);
            s.n = cast<int>(cast<float>(p) * t[p] + cast<float>(q)) + popcount(p) + cast<int>(p == q) +
                  cast<int>(p / 2 == p);
        });
        op.combine([](auto a, auto b, auto& s) { s.n = a.n + b.n; });
    });
    expect_same(built, R"(operator numbers(x: f32, t: table f32) {
  state n: i32 = 0
  lift {
    let q = (x > 0 ? 1 : 0) + 1;
    n = i32(f32(i32(x > 0 ? 1 : 0)) * t[i32(x > 0 ? 1 : 0)] + f32(i32(q))) + popcount(i32(x > 0 ? 1 : 0))
        + i32(i32(x > 0 ? 1 : 0) == q) + i32(i32((x > 0 ? 1 : 0) / 2) == (x > 0 ? 1 : 0))
  }
  combine(a, b) a + b
})");
}

TEST(CppForm, LetsOfNumbersThatNothingUses)
{
    const auto built = define("f", Field<bool>("s"), [](auto& op) {
        Column<float> x(op, "x");
        op.lift([&] {
            auto p = let("p", select(x > 0, 1, 2));
            auto q = let("q", p);
            let("r", -p + max(q, 3));
            return let("v", true);
        });
        op.combine([](auto a, auto) { return a; });
    });
    expect_same(built,
                "operator f(x: f32) -> bool { state s: bool lift { let p = x > 0 ? 1 : 2; let q = p; "
                "let r = -i32(p) + max(i32(q), 3); let v = true; s = v } combine(a, b) a }");
}

TEST(CppForm, SparseMatrixTimesVector)
{
    const auto built = define("spmv", Field<float>("sum", 0), [](auto& op) {
        Column<float> value(op, "value");
        Column<int> column(op, "column");
        Table<float> x(op, "x");
        op.lift(value * x[column]);
        op.combine([](auto a, auto b) { return a + b; });
        op.commutative();
    });
    expect_same(built, R"(operator spmv(value: f32, column: i32, x: table f32) -> f32 {
  state sum: f32 = 0
  lift value * x[column]
  combine(a, b) a + b
  laws commutative
})");
}

TEST(CppForm, SemigroupWithEmpty)
{
    const auto built = define("extent", Field<std::int16_t>("first"), [](auto& op) {
        Column<std::int16_t> x(op, "x");
        Result<std::int64_t> size(op, "size");
        op.lift([&] { return x; });
        op.combine([](auto, auto b) { return b; });
        op.finish([&](auto first) { size = length() + cast<std::int64_t>(first) * segment(); });
        op.empty([&] { size = -1; });
        op.idempotent().describe("Nothing of use.\nBut large.");
    });
    EXPECT_FALSE(built.has_identity());
    EXPECT_TRUE(built.allows_empty());
    EXPECT_EQ(built.description, "Nothing of use.\nBut large.");
    expect_same(built, R"(operator extent(x: i16) -> (size: i64) {
  state first: i16
  lift x
  combine(a, b) b
  finish { size = length + i64(first) * segment }
  empty { size = -1 }
  laws idempotent
})");
}

/// 0.5f has one type; 0.5 takes any.
TEST(CppForm, AFloatIsAResultOfItsType)
{
    const auto least = define("least", Field<float>("value"), [](auto& op) {
        Column<float> x(op, "x");
        op.lift([&] { return x; });
        op.combine([](auto a, auto b) { return min(a, b); });
        op.empty([] { return 0.0f; });
    });
    expect_same(
        least, "operator least(x: f32) -> f32 { state value: f32 lift x combine(a, b) min(a, b) empty 0.0 }");
    const auto wide = define("least", Field<double>("value"), [](auto& op) {
        Column<double> x(op, "x");
        op.lift([&] { return x; });
        op.combine([](auto a, auto b) { return min(a, b); });
        op.finish([](auto s) { return s; });
        op.empty(0.5f);
    });
    EXPECT_EQ(wide.results.front().type, Type::f64);
}

TEST(CppForm, ReturningAnOperandKeepsItWhole)
{
    const auto last = define<in_cpp::Map<std::uint8_t>>("last", [](auto& op) {
        Column<std::uint8_t> x(op, "x");
        op.lift([&](auto& s) {
            s.shift = x;
            s.scale = cast<std::uint8_t>(position() % 7);
        });
        op.combine([](auto, auto b) { return b; });
    });
    expect_same(last,
                "operator last(x: u8) { state { scale: u8 = 1; shift: u8 = 0 } lift { scale = u8(position % "
                "7); shift = x } combine(a, b) { scale = b.scale; shift = b.shift } }");
}

/// Checks that a lift in C++ equals the lift in `text`, for an operator with columns of many types.
template <class Lift>
void expect_lift(const Lift& lift, const std::string& text)
{
    const auto built = define("f", Field<bool>("s"), [&](auto& op) {
        Column<float> x(op, "x"), y(op, "y");
        Column<int> n(op, "n"), m(op, "m");
        Column<bool> c(op, "c");
        Column<half> h(op, "h");
        op.lift([&] {
            let("v", lift(x, y, n, m, c, h));
            return true;
        });
        op.combine([](auto a, auto) { return a; });
    });
    expect_same(built,
                "operator f(x: f32, y: f32, n: i32, m: i32, c: bool, h: f16) -> bool { state s: bool "
                "lift { let v = " +
                    text + "; s = true } combine(a, b) a }");
}

TEST(CppForm, EveryOperation)
{
    const auto expect = [](const std::string& text, auto lift) { expect_lift(lift, text); };
    expect("x * 2 + 0.5", [](auto x, auto, auto, auto, auto, auto) { return x * 2 + 0.5; });
    expect("1 - x / y", [](auto x, auto y, auto, auto, auto, auto) { return 1 - x / y; });
    expect("x * 0.1", [](auto x, auto, auto, auto, auto, auto) { return x * 0.1f; });
    expect("h * 0.1", [](auto, auto, auto, auto, auto, auto h) { return h * 0.1f; });
    expect("f64(x) * 0.10000000149011612",
           [](auto x, auto, auto, auto, auto, auto) { return cast<double>(x) * 0.1f; });
    expect("n % 3 << m >> 1", [](auto, auto, auto n, auto m, auto, auto) { return n % 3 << m >> 1; });
    expect("n & 255 | m ^ ~n", [](auto, auto, auto n, auto m, auto, auto) { return (n & 255) | (m ^ ~n); });
    expect("x == y && n != 1 || !c",
           [](auto x, auto y, auto n, auto, auto c, auto) { return (x == y && n != 1) || !c; });
    expect("1 == n && true || c",
           [](auto, auto, auto n, auto, auto c, auto) { return (1 == n && true) || c; });
    expect("x < y == (x <= y) ^ c",
           [](auto x, auto y, auto, auto, auto c, auto) { return ((x < y) == (x <= y)) ^ c; });
    expect("x > y == (x >= 1)", [](auto x, auto y, auto, auto, auto, auto) { return (x > y) == (x >= 1); });
    expect("c & true | c", [](auto, auto, auto, auto, auto c, auto) { return (c & true) | c; });
    expect("-x - -1 + -inf",
           [](auto x, auto, auto, auto, auto, auto) { return -x - -1 + -infinity<float>(); });
}

TEST(CppForm, EveryFunction)
{
    const auto expect = [](const std::string& text, auto lift) {
        expect_lift([&](auto x, auto y, auto n, auto, auto c, auto) { return lift(x, y, n, c); }, text);
    };
    expect("min(x, 1) + max(0, y)", [](auto x, auto y, auto, auto) { return min(x, 1) + max(0, y); });
    expect("abs(x) + f32(abs(n))", [](auto x, auto, auto n, auto) { return abs(x) + cast<float>(abs(n)); });
    expect("sqrt(x) + rsqrt(y)", [](auto x, auto y, auto, auto) { return sqrt(x) + rsqrt(y); });
    expect("exp(x) + exp2(x) + expm1(x)",
           [](auto x, auto, auto, auto) { return exp(x) + exp2(x) + expm1(x); });
    expect("log(x) + log2(x) + log1p(x)",
           [](auto x, auto, auto, auto) { return log(x) + log2(x) + log1p(x); });
    expect("pow(x, 2) + pow(2, y)", [](auto x, auto y, auto, auto) { return pow(x, 2) + pow(2, y); });
    expect("sin(x) + cos(x) + tanh(x)", [](auto x, auto, auto, auto) { return sin(x) + cos(x) + tanh(x); });
    expect("floor(x) + ceil(x) + round(x)",
           [](auto x, auto, auto, auto) { return floor(x) + ceil(x) + round(x); });
    expect("fma(x, 2, y) + fma(1, 2, y)",
           [](auto x, auto y, auto, auto) { return fma(x, 2, y) + fma(1, 2, y); });
    expect("copysign(1.0, x)", [](auto x, auto, auto, auto) { return copysign(1.0, x); });
    expect("popcount(n) + clz(n)", [](auto, auto, auto n, auto) { return popcount(n) + clz(n); });
    expect("isnan(x) || isfinite(y)", [](auto x, auto y, auto, auto) { return isnan(x) || isfinite(y); });
    expect("c ? x : 0", [](auto x, auto, auto, auto c) { return select(c, x, 0); });
    expect("c ? 1 : n", [](auto, auto, auto n, auto c) { return select(c, 1, n); });
    expect("c ? true : false", [](auto, auto, auto, auto c) { return select(c, true, false); });
    expect("bf16(x) * epsilon(bf16)",
           [](auto x, auto, auto, auto) { return cast<bfloat16>(x) * epsilon<bfloat16>(); });
    expect("lowest(i32) + highest(i32) + n",
           [](auto, auto, auto n, auto) { return lowest<int>() + highest<int>() + n; });
    expect("c ? -inf : x * nan",
           [](auto x, auto, auto, auto c) { return select(c, -infinity<float>(), x * nan<float>()); });
    expect("u8(300.5) + u8(1) + u8(i32(-1))", [](auto, auto, auto, auto) {
        return cast<std::uint8_t>(300.5) + cast<std::uint8_t>(1) + cast<std::uint8_t>(cast<int>(-1));
    });
    expect("index + position * segment",
           [](auto, auto, auto, auto) { return index() + position() * segment(); });
}

TEST(CppForm, DefinitionsInsideDefinitionsStandApart)
{
    std::vector<Operator> inner;
    const auto outer = define("sum", Field<float>("sum", 0), [&](auto& op) {
        Column<float> x(op, "x");
        op.lift([&] {
            inner.push_back(in_cpp::welford_mean_variance<float>());
            return let("y", x + 1);
        });
        op.combine([](auto a, auto b) { return a + b; });
    });
    EXPECT_TRUE(same(inner.at(0), in_cpp::welford_mean_variance<float>()));
    expect_same(outer,
                "operator sum(x: f32) -> f32 { state sum: f32 = 0 lift { let y = x + 1; sum = y } "
                "combine(a, b) a + b }");
}

}  // namespace
}  // namespace segfold::cpp_form_test
