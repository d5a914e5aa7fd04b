// Compares every operation of every type with the compiler's own arithmetic, computed in another way than in
// the interpreter.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "dsl/half.h"
#include "tests/common/evaluate.h"

namespace segfold::evaluator_arithmetic_test {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

template <class T>
constexpr Type type_of()
{
    if constexpr (std::is_same_v<T, float>)
        return Type::f32;
    else if constexpr (std::is_same_v<T, double>)
        return Type::f64;
    else
        return kTypes[1 + (std::is_unsigned_v<T> ? 4 : 0) + std::countr_zero(sizeof(T))];
}

static_assert(type_of<std::int8_t>() == Type::i8 && type_of<std::int64_t>() == Type::i64);
static_assert(type_of<std::uint8_t>() == Type::u8 && type_of<std::uint64_t>() == Type::u64);

template <class T>
std::vector<T> edges()
{
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
        return {T(0),
                -T(0),
                T(1),
                T(-1),
                T(0.5),
                T(-2.5),
                T(3.7),
                T(1e10),
                T(-1e-10),
                Limits::max(),
                Limits::min(),
                Limits::lowest(),
                Limits::denorm_min(),
                Limits::infinity(),
                -Limits::infinity(),
                Limits::quiet_NaN(),
                T(127),
                T(128),
                T(255.5),
                T(256),
                T(-128.9),
                T(-129),
                T(0x1p31),
                T(0x1p32),
                T(0x1p63),
                T(0x1p64),
                T(-0x1p63),
                T(-0.9),
                T(2147483520.0)};
    } else {
        std::vector<T> values = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 31,
                                 63,
                                 100,
                                 T(-1),
                                 T(-2),
                                 T(-7),
                                 T(-100),
                                 Limits::max(),
                                 Limits::min(),
                                 T(Limits::max() - 1),
                                 T(Limits::min() + 1),
                                 T(Limits::max() / 2)};
        std::mt19937_64 random(7);
        for (int i = 0; i < 8; ++i)
            values.push_back(static_cast<T>(random()));
        return values;
    }
}

template <class T>
class IntegerTest : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerTest, Integers);

/// Compares `text` of x and y with `expected(x, y)` at all pairs of edge values.
template <class T, class Result = T, class Expected>
void expect_binary(const std::string& text, Expected expected)
{
    const Type type = type_of<T>();
    const Type result = std::is_same_v<Result, bool> ? Type::boolean : type;
    Evaluation evaluation(text, result, {{"x", type}, {"y", type}});
    for (const T x : edges<T>())
        for (const T y : edges<T>())
            EXPECT_EQ(evaluation.template at<Result>(x, y), static_cast<Result>(expected(x, y)))
                << name(type) << ": " << text << " at " << +x << " and " << +y;
}

TYPED_TEST(IntegerTest, ArithmeticWraps)
{
    using T = TypeParam;
    expect_binary<T>("x + y", [](Wide x, Wide y) { return x + y; });
    expect_binary<T>("x - y", [](Wide x, Wide y) { return x - y; });
    expect_binary<T>("x * y", [](Wide x, Wide y) {
        return static_cast<Wide>(static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y));
    });
    expect_binary<T>("-x", [](Wide x, Wide) { return -x; });
    expect_binary<T>("abs(x)", [](Wide x, Wide) { return x < 0 ? -x : x; });
    expect_binary<T>("min(x, y)", [](Wide x, Wide y) { return x < y ? x : y; });
    expect_binary<T>("max(x, y)", [](Wide x, Wide y) { return x < y ? y : x; });
}

TYPED_TEST(IntegerTest, DivisionIsDefinedEverywhere)
{
    using T = TypeParam;
    expect_binary<T>("x / y", [](Wide x, Wide y) { return y == 0 ? 0 : x / y; });
    expect_binary<T>("x % y", [](Wide x, Wide y) { return y == 0 ? x : x % y; });
    expect_binary<T>("x / y * y + x % y", [](Wide x, Wide) { return x; });
}

TYPED_TEST(IntegerTest, BitsAndShifts)
{
    using T = TypeParam;
    constexpr Wide width = sizeof(T) * 8;
    const auto count = [](Wide y) { return ((y % width) + width) % width; };
    expect_binary<T>("x & y", [](Wide x, Wide y) { return x & y; });
    expect_binary<T>("x | y", [](Wide x, Wide y) { return x | y; });
    expect_binary<T>("x ^ y", [](Wide x, Wide y) { return x ^ y; });
    expect_binary<T>("~x", [](Wide x, Wide) { return -x - 1; });
    expect_binary<T>("x << y", [&](Wide x, Wide y) { return x * (Wide{1} << count(y)); });
    expect_binary<T>("x >> y", [&](Wide x, Wide y) {
        const Wide divisor = Wide{1} << count(y);
        return x >= 0 ? x / divisor : -((-x + divisor - 1) / divisor);
    });
}

TYPED_TEST(IntegerTest, Comparisons)
{
    using T = TypeParam;
    expect_binary<T, bool>("x < y", [](Wide x, Wide y) { return x < y; });
    expect_binary<T, bool>("x <= y", [](Wide x, Wide y) { return x <= y; });
    expect_binary<T, bool>("x > y", [](Wide x, Wide y) { return x > y; });
    expect_binary<T, bool>("x >= y", [](Wide x, Wide y) { return x >= y; });
    expect_binary<T, bool>("x == y", [](Wide x, Wide y) { return x == y; });
    expect_binary<T, bool>("x != y", [](Wide x, Wide y) { return x != y; });
}

TYPED_TEST(IntegerTest, CountsOfBits)
{
    using T = TypeParam;
    Evaluation ones("popcount(x)", Type::i32, {{"x", type_of<T>()}});
    Evaluation zeros("clz(x)", Type::i32, {{"x", type_of<T>()}});
    for (const T x : edges<T>()) {
        const auto bits = static_cast<std::make_unsigned_t<T>>(x);
        EXPECT_EQ(ones.template at<std::int32_t>(x), std::popcount(bits)) << +x;
        EXPECT_EQ(zeros.template at<std::int32_t>(x), std::countl_zero(bits)) << +x;
    }
}

TYPED_TEST(IntegerTest, LimitsAndConversions)
{
    using T = TypeParam;
    const std::string type(name(type_of<T>()));
    Evaluation lowest("x * 0 + lowest(" + type + ")", type_of<T>(), {{"x", type_of<T>()}});
    Evaluation highest("x * 0 + highest(" + type + ")", type_of<T>(), {{"x", type_of<T>()}});
    EXPECT_EQ(lowest.template at<T>(T{5}), std::numeric_limits<T>::min());
    EXPECT_EQ(highest.template at<T>(T{5}), std::numeric_limits<T>::max());
    const auto convert = [&]<class From>(From) {
        Evaluation evaluation(type + "(x)", type_of<T>(), {{"x", type_of<From>()}});
        Evaluation truth("bool(x)", Type::boolean, {{"x", type_of<From>()}});
        for (const From x : edges<From>()) {
            EXPECT_EQ(evaluation.template at<T>(x), static_cast<T>(x)) << +x;
            EXPECT_EQ(truth.template at<bool>(x), x != 0) << +x;
        }
    };
    std::apply([&](auto... from) { (convert(from), ...); },
               std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                          std::uint32_t, std::uint64_t>());
    Evaluation from_bool(type + "(x)", type_of<T>(), {{"x", Type::boolean}});
    EXPECT_EQ(from_bool.template at<T>(true), 1);
    EXPECT_EQ(from_bool.template at<T>(false), 0);
}

TYPED_TEST(IntegerTest, FloatsSaturateTowardZeroAndNanIsZero)
{
    using T = TypeParam;
    const auto convert = [&]<class From>(From) {
        Evaluation evaluation(std::string(name(type_of<T>())) + "(x)", type_of<T>(),
                              {{"x", type_of<From>()}});
        for (const From x : edges<From>()) {
            const long double whole = std::trunc(static_cast<long double>(x));
            const T expected = std::isnan(x) ? T(0)
                               : whole >= static_cast<long double>(std::numeric_limits<T>::max())
                                   ? std::numeric_limits<T>::max()
                               : whole <= static_cast<long double>(std::numeric_limits<T>::min())
                                   ? std::numeric_limits<T>::min()
                                   : static_cast<T>(whole);
            EXPECT_EQ(evaluation.template at<T>(x), expected) << name(type_of<T>()) << " of " << x;
        }
    };
    convert(float{});
    convert(double{});
}

/// True if both have equal bits, or are NaN.
template <class T>
bool alike(T x, T y)
{
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

template <class T>
class FloatTest : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatTest, Floats);

template <class T, class Expected>
void expect_float(const std::string& text, Expected expected)
{
    Evaluation evaluation(text, type_of<T>(), {{"x", type_of<T>()}, {"y", type_of<T>()}});
    for (const T x : edges<T>())
        for (const T y : edges<T>()) {
            const T value = evaluation.template at<T>(x, y);
            EXPECT_TRUE(alike(value, static_cast<T>(expected(x, y))))
                << text << " at " << x << " and " << y << " is " << value << ", not " << expected(x, y);
        }
}

TYPED_TEST(FloatTest, Arithmetic)
{
    using T = TypeParam;
    expect_float<T>("x + y", [](T x, T y) { return x + y; });
    expect_float<T>("x - y", [](T x, T y) { return x - y; });
    expect_float<T>("x * y", [](T x, T y) { return x * y; });
    expect_float<T>("x / y", [](T x, T y) { return x / y; });
    expect_float<T>("-x", [](T x, T) { return -x; });
    expect_float<T>("fma(x, y, 1)", [](T x, T y) { return std::fma(x, y, T(1)); });
}

TYPED_TEST(FloatTest, Functions)
{
    using T = TypeParam;
    expect_float<T>("abs(x)", [](T x, T) { return std::fabs(x); });
    expect_float<T>("sqrt(x)", [](T x, T) { return std::sqrt(x); });
    expect_float<T>("rsqrt(x)", [](T x, T) { return 1 / std::sqrt(x); });
    expect_float<T>("exp(x)", [](T x, T) { return std::exp(x); });
    expect_float<T>("exp2(x)", [](T x, T) { return std::exp2(x); });
    expect_float<T>("expm1(x)", [](T x, T) { return std::expm1(x); });
    expect_float<T>("log(x)", [](T x, T) { return std::log(x); });
    expect_float<T>("log2(x)", [](T x, T) { return std::log2(x); });
    expect_float<T>("log1p(x)", [](T x, T) { return std::log1p(x); });
    expect_float<T>("pow(x, y)", [](T x, T y) { return std::pow(x, y); });
    expect_float<T>("sin(x)", [](T x, T) { return std::sin(x); });
    expect_float<T>("cos(x)", [](T x, T) { return std::cos(x); });
    expect_float<T>("tanh(x)", [](T x, T) { return std::tanh(x); });
    expect_float<T>("floor(x)", [](T x, T) { return std::floor(x); });
    expect_float<T>("ceil(x)", [](T x, T) { return std::ceil(x); });
    expect_float<T>("round(x)", [](T x, T) { return std::round(x); });
    expect_float<T>("copysign(x, y)", [](T x, T y) { return std::copysign(x, y); });
}

TYPED_TEST(FloatTest, MinAndMaxPreferNumbersAndOrderZeros)
{
    using T = TypeParam;
    const auto less = [](T x, T y) { return x < y || (x == y && std::signbit(x) && !std::signbit(y)); };
    expect_float<T>("min(x, y)",
                    [&](T x, T y) { return std::isnan(x) || (!std::isnan(y) && less(y, x)) ? y : x; });
    expect_float<T>("max(x, y)",
                    [&](T x, T y) { return std::isnan(x) || (!std::isnan(y) && less(x, y)) ? y : x; });
}

TYPED_TEST(FloatTest, Tests)
{
    using T = TypeParam;
    const auto expect = [](const std::string& text, auto expected) {
        Evaluation evaluation(text, Type::boolean, {{"x", type_of<T>()}, {"y", type_of<T>()}});
        for (const T x : edges<T>())
            for (const T y : edges<T>())
                EXPECT_EQ(evaluation.template at<bool>(x, y), expected(x, y))
                    << text << " at " << x << " and " << y;
    };
    expect("x < y", [](T x, T y) { return x < y; });
    expect("x <= y", [](T x, T y) { return x <= y; });
    expect("x > y", [](T x, T y) { return x > y; });
    expect("x >= y", [](T x, T y) { return x >= y; });
    expect("x == y", [](T x, T y) { return x == y; });
    expect("x != y", [](T x, T y) { return x != y; });
    expect("isnan(x)", [](T x, T) { return std::isnan(x); });
    expect("isfinite(x)", [](T x, T) { return std::isfinite(x); });
    expect("bool(x)", [](T x, T) { return static_cast<bool>(x); });
}

TYPED_TEST(FloatTest, Conversions)
{
    using T = TypeParam;
    const auto convert = [&]<class From>(From) {
        Evaluation evaluation(std::string(name(type_of<T>())) + "(x)", type_of<T>(),
                              {{"x", type_of<From>()}});
        for (const From x : edges<From>())
            EXPECT_TRUE(alike(evaluation.template at<T>(x), static_cast<T>(x))) << x;
    };
    std::apply([&](auto... from) { (convert(from), ...); },
               std::tuple<std::int8_t, std::int32_t, std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t,
                          float, double>());
}

/// Each operation is computed in f32 and rounded once. The expected value is rounded from f64. For + - * /
/// sqrt of such short numbers both are the same.
template <class Round>
void expect_rounded(Type type, Round round, double (*expected)(double, double), const std::string& text)
{
    Evaluation<> evaluation(text, type, {{"x", type}, {"y", type}});
    const auto widen = [&](std::uint16_t bits) {
        return type == Type::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
    };
    std::mt19937 random(7);
    for (int i = 0; i < 4000; ++i) {
        const auto x = static_cast<std::uint16_t>(random());
        const auto y = static_cast<std::uint16_t>(i % 3 == 0 ? x ^ (random() & 0x83ffu) : random());
        const float wanted = widen(round(static_cast<float>(expected(widen(x), widen(y)))));
        const float value = widen(evaluation.template at<std::uint16_t>(x, y));
        EXPECT_TRUE(alike(value, wanted)) << name(type) << ": " << text << " at " << widen(x) << " and "
                                          << widen(y) << " is " << value << ", not " << wanted;
    }
}

TEST(ShortFloats, RoundAfterEachOperation)
{
    const auto to_f16 = [](float x) { return f32_to_f16(x); };
    const auto to_bf16 = [](float x) { return f32_to_bf16(x); };
    const std::pair<const char*, double (*)(double, double)> cases[] = {
        {"x + y", [](double x, double y) { return x + y; }},
        {"x - y", [](double x, double y) { return x - y; }},
        {"x * y", [](double x, double y) { return x * y; }},
        {"x / y", [](double x, double y) { return x / y; }},
        {"sqrt(x)", [](double x, double) { return std::sqrt(x); }},
        {"floor(x)", [](double x, double) { return std::floor(x); }},
        {"-abs(x)", [](double x, double) { return -std::fabs(x); }}};
    for (const auto& [text, expected] : cases) {
        expect_rounded(Type::f16, to_f16, expected, text);
        expect_rounded(Type::bf16, to_bf16, expected, text);
    }
}

TEST(ShortFloats, SumsOfSeveralTermsRoundEachTime)
{
    // 2048 + 1 rounds to 2048 in f16, so adding one twice changes nothing.
    Evaluation f16("x + 1 + 1", Type::f16, {{"x", Type::f16}});
    EXPECT_EQ(f16.at<std::uint16_t>(f32_to_f16(2048)), f32_to_f16(2048));
    Evaluation together("x + (1 + 1)", Type::f16, {{"x", Type::f16}});
    EXPECT_EQ(together.at<std::uint16_t>(f32_to_f16(2048)), f32_to_f16(2050));
    Evaluation bf16("x + 1 + 1", Type::bf16, {{"x", Type::bf16}});
    EXPECT_EQ(bf16.at<std::uint16_t>(f32_to_bf16(256)), f32_to_bf16(256));
    Evaluation overflow("x * 2", Type::f16, {{"x", Type::f16}});
    EXPECT_EQ(overflow.at<std::uint16_t>(f32_to_f16(40000)), 0x7c00);
    Evaluation literal("x * 0 + 0.1", Type::f16, {{"x", Type::f16}});
    EXPECT_EQ(literal.at<std::uint16_t>(f32_to_f16(1)), f32_to_f16(0.1f));
    Evaluation from_f64("f16(x)", Type::f16, {{"x", Type::f64}});
    EXPECT_EQ(from_f64.at<std::uint16_t>(65519.0), 0x7bff);
    EXPECT_EQ(from_f64.at<std::uint16_t>(-1e300), 0xfc00);
    Evaluation to_integer("u8(x)", Type::u8, {{"x", Type::f16}});
    EXPECT_EQ(to_integer.at<std::uint8_t>(f32_to_f16(300)), 255);
}

TEST(Bools, TruthTables)
{
    struct Case {
        const char* text;
        bool at[4];  // false false, false true, true false, true true
    };
    const Case cases[] = {
        {"x && y", {false, false, false, true}},    {"x || y", {false, true, true, true}},
        {"x & y", {false, false, false, true}},     {"x | y", {false, true, true, true}},
        {"x ^ y", {false, true, true, false}},      {"x == y", {true, false, false, true}},
        {"x != y", {false, true, true, false}},     {"!x", {true, true, false, false}},
        {"x ? y : !y", {true, false, false, true}}, {"bool(i32(x) + i32(y))", {false, true, true, true}}};
    for (const auto& [text, expected] : cases) {
        Evaluation evaluation(text, Type::boolean, {{"x", Type::boolean}, {"y", Type::boolean}});
        for (int i = 0; i < 4; ++i)
            EXPECT_EQ(evaluation.at<bool>((i & 2) != 0, (i & 1) != 0), expected[i]) << text << " case " << i;
    }
    Evaluation stored("x", Type::boolean, {{"x", Type::boolean}});
    EXPECT_EQ(stored.at<std::uint8_t>(std::uint8_t{200}), 1) << "any byte but 0 is true and is stored as 1";
}

}  // namespace
}  // namespace segfold::evaluator_arithmetic_test
