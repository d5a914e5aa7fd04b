// Expressions as CUDA text: what each construct becomes, and where parentheses, casts and suffixes stand.
//
// What the text means is tested by emitted_meaning_test.
#include "codegen/print/cuda_printer.h"

#include <gtest/gtest.h>

#include "dsl/text/parser.h"
#include "tests/common/random_operator.h"

namespace segfold::cuda_printer_test {
namespace {

/// Lift's only expression, over columns x and y of `type`, an i32 n, a bool c and a table t, as the text for
/// a `result`.
std::string printed(const std::string& text, Type type, Type result, int index_bits = 32)
{
    const std::string t(name(type));
    const std::string r(name(result));
    const auto op =
        parse_operator("test", "operator t(x: " + t + ", y: " + t + ", n: i32, c: bool, t: table " + t +
                                   ") -> " + r + " { state s: " + r + " lift " + text + " combine(a, b) a }");
    return CudaPrinter(op, index_bits).expression(op.lift.assignments[0].value);
}

std::string printed(const std::string& text, Type type) { return printed(text, type, type); }

struct Case {
    const char* text;
    const char* expected;
};

class Signed : public testing::TestWithParam<Case> {};
TEST_P(Signed, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::i32), GetParam().expected) << GetParam().text;
}

// Arithmetic wraps in unsigned; everything else is plain.
INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, Signed,
    testing::Values(
        Case{"0", "0"}, Case{"-7", "-7"}, Case{"lowest(i32)", "kLowestI32"},
        Case{"-2147483648", "kLowestI32"}, Case{"x + y", "int(unsigned(x) + unsigned(y))"},
        Case{"x + 1", "int(unsigned(x) + 1)"}, Case{"1 - x", "int(1 - unsigned(x))"},
        Case{"x + -5", "int(unsigned(x) + -5)"}, Case{"2 + 3", "int(2u + 3u)"},
        Case{"x + y + n", "int(unsigned(x) + unsigned(y) + unsigned(n))"},
        Case{"x - (y - n)", "int(unsigned(x) - (unsigned(y) - unsigned(n)))"},
        Case{"(x + y) * n", "int((unsigned(x) + unsigned(y)) * unsigned(n))"},
        Case{"x * y + n", "int(unsigned(x) * unsigned(y) + unsigned(n))"},
        Case{"-x", "int(0u - unsigned(x))"}, Case{"-(-x)", "int(0u - (0u - unsigned(x)))"},
        Case{"-x - y", "int(0u - unsigned(x) - unsigned(y))"},
        Case{"x - -y", "int(unsigned(x) - (0u - unsigned(y)))"}, Case{"~x", "~x"}, Case{"~~x", "~(~x)"},
        Case{"i32(c) + x", "int(unsigned(c) + unsigned(x))"},
        Case{"i32(position) + x", "int(unsigned(position) + unsigned(x))"}, Case{"x / 3", "x / 3"},
        Case{"x % 3", "x % 3"}, Case{"x / -3", "divide_i32(x, -3)"}, Case{"x / y", "divide_i32(x, y)"},
        Case{"x % (y + 1)", "remainder_i32(x, int(unsigned(y) + 1))"}, Case{"x / 3 / 5", "x / 3 / 5"},
        Case{"(x & y) / 3", "(x & y) / 3"}, Case{"x & y & n", "x & y & n"},
        Case{"x & (y & n)", "x & (y & n)"}, Case{"x & y | n", "(x & y) | n"},
        Case{"x | y ^ n", "x | (y ^ n)"}, Case{"x << 3", "int(unsigned(x) << 3)"},
        Case{"x << 35", "int(unsigned(x) << 3)"}, Case{"x << -1", "int(unsigned(x) << 31)"},
        Case{"x >> 3", "x >> 3"}, Case{"x >> y", "x >> (y & 31)"},
        Case{"x << y + 1", "int(unsigned(x) << (int(unsigned(y) + 1) & 31))"},
        Case{"x >> (y & n)", "x >> (y & n & 31)"}, Case{"x >> (y | n)", "x >> ((y | n) & 31)"},
        Case{"x << 1 >> 1", "int(unsigned(x) << 1) >> 1"},
        Case{"x + y << 1", "int((unsigned(x) + unsigned(y)) << 1)"}, Case{"min(x, 7)", "min(x, 7)"},
        Case{"abs(x)", "absolute_i32(x)"}, Case{"popcount(x)", "__popc(x)"}, Case{"clz(x)", "__clz(x)"},
        Case{"c ? x : 0", "c ? x : 0"}, Case{"x < y ? x : x > y ? y : n", "x < y ? x : x > y ? y : n"},
        Case{"(c ? c : !c) ? x : y", "(c ? c : !c) ? x : y"},
        Case{"c ? c ? x : y : n", "c ? (c ? x : y) : n"},
        Case{"(c ? x : y) + n", "int(unsigned(c ? x : y) + unsigned(n))"}, Case{"i32(x)", "x"},
        Case{"i32(x + y) + n", "int(unsigned(x) + unsigned(y) + unsigned(n))"}, Case{"t[n]", "t[n]"},
        Case{"t[position]", "t[position]"}, Case{"t[position + 1]", "t[i64(u64(position) + 1)]"}));

class Unsigned : public testing::TestWithParam<Case> {};
TEST_P(Unsigned, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::u64), GetParam().expected) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, Unsigned,
    testing::Values(Case{"0", "0"}, Case{"4294967296", "4294967296ull"},
                    Case{"18446744073709551615", "18446744073709551615ull"}, Case{"x + 1", "x + 1"},
                    Case{"x * 4294967296", "x * 4294967296ull"}, Case{"1 + 2", "1ull + 2ull"},
                    Case{"-x", "-x"}, Case{"-(-x)", "-(-x)"}, Case{"x - (y - 1)", "x - (y - 1)"},
                    Case{"(x - y) - 1", "x - y - 1"}, Case{"x << 3", "x << 3"},
                    Case{"1 << y", "1ull << (y & 63)"}, Case{"x / 7", "x / 7"},
                    Case{"x / y", "divide_u64(x, y)"}, Case{"(x + y) / 7", "(x + y) / 7"},
                    Case{"max(x, 7)", "max(x, 7ull)"}, Case{"abs(x - y)", "x - y"},
                    Case{"abs(x - y) * 2", "(x - y) * 2"}, Case{"c ? x : 0", "c ? x : 0"},
                    Case{"c ? 1 : 0", "c ? 1ull : 0ull"}, Case{"u64(n)", "u64(n)"},
                    Case{"u64(index) + 1", "u64(index) + 1"},
                    Case{"u64(index + 1)", "u64(i64(u64(index) + 1))"}, Case{"u64(c)", "u64(c)"}));

class Narrow : public testing::TestWithParam<Case> {};
TEST_P(Narrow, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::u16), GetParam().expected) << GetParam().text;
}

// Computed as int and cut off again, operation by operation.
INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, Narrow,
    testing::Values(Case{"0", "0"}, Case{"x + y", "u16(x + y)"}, Case{"x + 1", "u16(x + 1)"},
                    Case{"x - y - 1", "u16(opaque(u16(opaque(x - y)) - 1))"},
                    Case{"x * y", "u16(opaque(unsigned(x) * y))"}, Case{"-x", "u16(opaque(-x))"},
                    Case{"~x", "u16(opaque(~x))"}, Case{"x ^ y", "u16(opaque(x ^ y))"},
                    Case{"x & y", "u16(x & y)"}, Case{"x / 3", "u16(x / 3)"},
                    Case{"x / y", "divide_u16(x, y)"}, Case{"x << y", "u16(x << (y & 15))"},
                    Case{"1 << y", "u16(u16(1) << (y & 15))"}, Case{"min(x, 7)", "u16(min(x, 7))"},
                    Case{"c ? x : 0", "c ? x : u16(0)"}, Case{"u16(popcount(x))", "u16(opaque(__popc(x)))"},
                    Case{"u16(clz(x))", "u16(opaque(__clz(x) - 16))"}, Case{"u16(n)", "u16(opaque(n))"},
                    Case{"u16(-n)", "u16(opaque(int(0u - unsigned(n))))"},
                    Case{"u16(index)", "u16(opaque(index))"}, Case{"u16(u64(n))", "u16(opaque(int(u64(n))))"},
                    Case{"u16(u8(x))", "u16(u8(x))"}, Case{"u16(f32(x))", "to_u16(float(x))"}));

class SignedNarrow : public testing::TestWithParam<Case> {};
TEST_P(SignedNarrow, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::i16), GetParam().expected) << GetParam().text;
}

// A sum of 16 bits that is tested for zero is a comparison with a negation; fields may be sums.
TEST(CudaPrinter, HidesNarrowSumsFromTestsForZero)
{
    const auto test = [](const std::string& text, Type type) { return printed(text, type, Type::boolean); };
    EXPECT_EQ(test("bool(x + y)", Type::i16), "opaque(i16(x + y)) != 0");
    EXPECT_EQ(test("!bool(x + y)", Type::i16), "!(opaque(i16(x + y)) != 0)");
    EXPECT_EQ(test("x + y == 0", Type::i16), "opaque(i16(x + y)) == 0");
    EXPECT_EQ(test("0 != x + y", Type::u8), "0 != opaque(u8(x + y))");
    EXPECT_EQ(test("x + y > 0", Type::u16), "opaque(u16(x + y)) > 0");
    EXPECT_EQ(test("x + y > 0", Type::i16), "i16(x + y) > 0");
    EXPECT_EQ(test("(c ? x + y : x) == y", Type::i16), "opaque(c ? i16(x + y) : x) == y");
    EXPECT_EQ(test("u8(x + y) == 0", Type::u16), "opaque(u8(u16(x + y))) == 0");
    EXPECT_EQ(test("popcount(x + y) == 0", Type::i16), "__popc(opaque(u16(i16(x + y)))) == 0");
    EXPECT_EQ(printed("f32(x + y)", Type::i16, Type::f32), "float(opaque(i16(x + y)))");
    EXPECT_EQ(test("x == y && bool(x) && t[n] != 0", Type::i16), "x == y && x != 0 && t[n] != 0");
    EXPECT_EQ(test("-x == y", Type::i16), "i16(opaque(-x)) == y");
    EXPECT_EQ(test("n + n == 0", Type::i16), "int(unsigned(n) + unsigned(n)) == 0");
}

// Neither NVRTC nor ptxas may see a negation of 16 bits.
INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, SignedNarrow,
    testing::Values(Case{"-x", "i16(opaque(-x))"}, Case{"~x + 1", "i16(i16(opaque(~x)) + 1)"},
                    Case{"x * -1", "i16(opaque(x * -1))"}, Case{"x << 2", "i16(opaque(unsigned(x) << 2))"},
                    Case{"i16(-n) << 2", "i16(opaque(unsigned(int(0u - unsigned(n))) << 2))"},
                    Case{"x >> 2", "i16(x >> 2)"}, Case{"x / -1", "divide_i16(x, i16(-1))"},
                    Case{"x / 3", "i16(x / 3)"}, Case{"max(x, -x)", "i16(max(x, i16(opaque(-x))))"},
                    Case{"i16(-i32(x))", "i16(opaque(int(0u - unsigned(opaque(x)))))"},
                    Case{"i16(i32(x))", "i16(opaque(opaque(x)))"},
                    Case{"i16(i64(x))", "i16(opaque(int(i64(opaque(x)))))"},
                    Case{"i16(u32(x))", "i16(opaque(int(unsigned(opaque(x)))))"},
                    Case{"i16(f32(x))", "to_i16(float(x))"}, Case{"i16(i8(x))", "i16(i8(x))"}));

// NVRTC widens ~x and -x as if neither wrapped; what is read from a column or table has no such twin.
TEST(CudaPrinter, HidesIntsThatMayWrapFromWidening)
{
    EXPECT_EQ(printed("i64(-n)", Type::i64), "i64(opaque(int(0u - unsigned(n))))");
    EXPECT_EQ(printed("u64(~n)", Type::u64), "u64(opaque(~n))");
    EXPECT_EQ(printed("i64(abs(n))", Type::i64), "i64(opaque(absolute_i32(n)))");
    EXPECT_EQ(printed("i64(i32(x))", Type::i64), "i64(opaque(int(x)))");
    EXPECT_EQ(printed("i64(n + 1) + x", Type::i64), "i64(u64(opaque(int(unsigned(n) + 1))) + u64(x))");
    EXPECT_EQ(printed("i64(n) + i64(c)", Type::i64), "i64(u64(n) + u64(c))");
    EXPECT_EQ(printed("i64(popcount(x))", Type::i64), "i64(__popcll(x))");
    EXPECT_EQ(printed("u64(u32(-n))", Type::u64), "u64(unsigned(int(0u - unsigned(n))))");
    EXPECT_EQ(printed("f64(-n)", Type::f64), "double(int(0u - unsigned(n)))");
}

// NVRTC folds the least of constants 0 and -0 to either; lets may be constants, fields where there is one.
TEST(CudaPrinter, HidesConstantsFromMinAndMax)
{
    EXPECT_EQ(printed("min(0.0, -0.0)", Type::f32), "fminf(opaque_f32(0.0f), -0.0f)");
    EXPECT_EQ(printed("max(-0.0, 0)", Type::f64), "fmax(opaque_f64(-0.0), 0.0)");
    EXPECT_EQ(printed("min(0.0, -0.0)", Type::f16), "to_f16(fminf(opaque_f32(0.0f), -0.0f))");
    EXPECT_EQ(printed("min(-f32(0), 0)", Type::f32), "fminf(opaque_f32(-0.0f), 0.0f)");
    EXPECT_EQ(printed("max(x, 0)", Type::f32), "fmaxf(x, 0.0f)");
    EXPECT_EQ(printed("max(0, t[n])", Type::f32), "fmaxf(0.0f, t[n])");
    EXPECT_EQ(printed("max(0, f32(index))", Type::f32), "fmaxf(0.0f, float(index))");
    EXPECT_EQ(printed("min(1, 2)", Type::i32), "min(1, 2)");
}

// What is denormal or infinite needs the long way of a division, and no quotient of whole numbers is.
TEST(CudaPrinter, DividesWholeNumbersTheShortWay)
{
    EXPECT_EQ(printed("f32(n) / f32(i64(n) + 1)", Type::f32),
              "divide_whole(float(n), float(i64(u64(n) + 1)))");
    EXPECT_EQ(printed("1 / f32(n) * x", Type::f32), "divide_one(float(n)) * x");
    EXPECT_EQ(printed("3 / f32(index)", Type::f32), "divide_whole(3.0f, float(index))");
    EXPECT_EQ(printed("16777216 / f32(n)", Type::f32), "divide_whole(16777216.0f, float(n))");
    EXPECT_EQ(printed("x / f32(n)", Type::f32), "x / float(n)");
    EXPECT_EQ(printed("0.5 / f32(n)", Type::f32), "0.5f / float(n)");
    EXPECT_EQ(printed("-0.0 / f32(n)", Type::f32), "-0.0f / float(n)");
    EXPECT_EQ(printed("33554432 / f32(n)", Type::f32), "33554432.0f / float(n)");
    EXPECT_EQ(printed("f32(n) / 3", Type::f32), "float(n) / 3.0f");
    EXPECT_EQ(printed("f32(f16(n)) / f32(n)", Type::f32), "to_f32(to_f16(float(n))) / float(n)");
    EXPECT_EQ(printed("f32(n) / f32(c)", Type::f32), "float(n) / float(c)");
    EXPECT_EQ(printed("f64(n) / f64(n)", Type::f64), "double(n) / double(n)");
    EXPECT_EQ(printed("f16(n) / f16(n)", Type::f16),
              "to_f16(to_f32(to_f16(float(n))) / to_f32(to_f16(float(n))))");
}

class Single : public testing::TestWithParam<Case> {};
TEST_P(Single, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::f32), GetParam().expected) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, Single,
    testing::Values(Case{"0", "0.0f"}, Case{"1", "1.0f"}, Case{"-1", "-1.0f"}, Case{"-0.0", "-0.0f"},
                    Case{"0.1", "0.1f"}, Case{"1e30", "1e+30f"}, Case{"16777217", "16777216.0f"},
                    Case{"inf", "kInfinity"}, Case{"-inf", "-kInfinity"}, Case{"nan", "kNan"},
                    Case{"lowest(f32)", "kLowestF32"}, Case{"epsilon(f32)", "kEpsilonF32"},
                    Case{"x - y + 1", "x - y + 1.0f"}, Case{"x - (y + 1)", "x - (y + 1.0f)"},
                    Case{"x - (-1)", "x - -1.0f"}, Case{"-x", "-x"}, Case{"-(-x)", "-(-x)"},
                    Case{"-(-1.0)", "-(-1.0f)"}, Case{"-(x * y)", "-(x * y)"}, Case{"-x * y", "-x * y"},
                    Case{"x / (y / 2)", "x / (y / 2.0f)"}, Case{"f32(n)", "float(n)"}, Case{"f32(x)", "x"},
                    Case{"f32(x + y) * 2", "(x + y) * 2.0f"}, Case{"f32(index)", "float(index)"},
                    Case{"min(x, y)", "fminf(x, y)"}, Case{"abs(x)", "fabsf(x)"},
                    Case{"sqrt(x + y)", "sqrtf(x + y)"}, Case{"fma(x, y, -x)", "fmaf(x, y, -x)"},
                    Case{"isnan(x) ? 0 : x", "isnan(x) ? 0.0f : x"},
                    Case{"!isnan(x) && isfinite(y) ? x : y", "!isnan(x) && isfinite(y) ? x : y"},
                    Case{"t[n & 7]", "t[n & 7]"}));

/// An exponential of f32 in an operator from f16 whose results have the given type.
std::string exponential_for(const std::string& result)
{
    const auto op = parse_operator(
        "test", "operator t(x: f16) -> " + result +
                    " { state s: f32 = 0 lift exp(f32(x)) combine(a, b) a + b finish " + result + "(s) }");
    return CudaPrinter(op, 32).expression(op.lift.assignments[0].value);
}

/// Five digits of an exponential are enough where everything that comes of it is rounded to 16 bits.
TEST(CudaPrinter, ExponentialsOfWhatIsRoundedToHalvesAreQuick)
{
    EXPECT_EQ(exponential_for("f16"), "quick_exp(to_f32(x))");
    EXPECT_EQ(exponential_for("bf16"), "quick_exp(to_f32(x))");
    EXPECT_EQ(exponential_for("f32"), "expf(to_f32(x))");
    EXPECT_EQ(exponential_for("i32"), "expf(to_f32(x))") << "a last digit may make another whole number";
    EXPECT_EQ(exponential_for("f64"), "expf(to_f32(x))");
}

TEST(CudaPrinter, DoublesHaveNoSuffix)
{
    EXPECT_EQ(printed("x * 0.5 + nan", Type::f64), "x * 0.5 + kNanF64");
    EXPECT_EQ(printed("max(x, -inf)", Type::f64), "fmax(x, -kInfinityF64)");
    EXPECT_EQ(printed("f64(n) / 3", Type::f64), "double(n) / 3.0");
}

class Half : public testing::TestWithParam<Case> {};
TEST_P(Half, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::f16), GetParam().expected) << GetParam().text;
}

// Computed in float and rounded back, operation by operation; literals are rounded here.
INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, Half,
    testing::Values(Case{"0", "to_f16(0.0f)"}, Case{"0.1", "to_f16(0.099975586f)"}, Case{"x", "x"},
                    Case{"-x", "to_f16(-to_f32(x))"}, Case{"-(-1.0)", "to_f16(-(-1.0f))"},
                    Case{"x + 1", "to_f16(to_f32(x) + 1.0f)"}, Case{"x - -1", "to_f16(to_f32(x) - -1.0f)"},
                    Case{"x * inf", "to_f16(to_f32(x) * kInfinity)"},
                    Case{"x + highest(f16)", "to_f16(to_f32(x) + kHighestF16)"},
                    Case{"-inf", "to_f16(-kInfinity)"},
                    Case{"x + y * x", "to_f16(to_f32(x) + to_f32(to_f16(to_f32(y) * to_f32(x))))"},
                    Case{"max(x, 0)", "to_f16(fmaxf(to_f32(x), 0.0f))"},
                    Case{"x < y ? x : y", "to_f32(x) < to_f32(y) ? x : y"},
                    Case{"f16(n)", "to_f16(float(n))"}, Case{"f16(index)", "to_f16(float(index))"},
                    Case{"f16(f32(x))", "to_f16(to_f32(x))"},
                    Case{"f16(f64(x))", "to_f16(float(double(to_f32(x))))"},
                    Case{"f16(i32(x))", "to_f16(float(to_i32(to_f32(x))))"},
                    Case{"f16(bf16(x))", "to_f16(to_f32(to_bf16(to_f32(x))))"}));

class Logical : public testing::TestWithParam<Case> {};
TEST_P(Logical, PrintsAs)
{
    EXPECT_EQ(printed(GetParam().text, Type::f32, Type::boolean), GetParam().expected) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    CudaPrinter, Logical,
    testing::Values(Case{"c && x < y || x == y", "(c && x < y) || x == y"},
                    Case{"c && (x < y || x == y)", "c && (x < y || x == y)"},
                    Case{"c || x < y || x == y", "c || x < y || x == y"},
                    Case{"!(c && x < y)", "!(c && x < y)"}, Case{"!c", "!c"}, Case{"!!c", "!!c"},
                    Case{"c == (x < y)", "c == (x < y)"}, Case{"c & x < y", "bool(c & (x < y))"},
                    Case{"c ^ c | c", "bool(bool(c ^ c) | c)"}, Case{"isnan(x)", "bool(isnan(x))"},
                    Case{"isnan(x) == isnan(y)", "bool(isnan(x)) == bool(isnan(y))"},
                    Case{"isnan(x) || isnan(y)", "isnan(x) || isnan(y)"}, Case{"bool(x)", "x != 0.0f"},
                    Case{"bool(n)", "n != 0"}, Case{"bool(index)", "index != 0"}, Case{"bool(c)", "c"},
                    Case{"!bool(n)", "!(n != 0)"}, Case{"n == 5", "n == 5"},
                    Case{"position == 0", "i64(position) == 0"}, Case{"-n < 0", "int(0u - unsigned(n)) < 0"},
                    Case{"true", "true"}));

TEST(CudaPrinter, PlacesNeedNoConversionWhereIndicesAreWide)
{
    EXPECT_EQ(printed("index", Type::i64, Type::i64, 32), "i64(index)");
    EXPECT_EQ(printed("index", Type::i64, Type::i64, 64), "index");
    EXPECT_EQ(printed("i64(index)", Type::i64, Type::i64, 64), "index");
    EXPECT_EQ(printed("i32(index)", Type::i64, Type::i32, 32), "index");
    EXPECT_EQ(printed("i32(index)", Type::i64, Type::i32, 64), "int(index)");
    EXPECT_EQ(printed("index + x", Type::i64, Type::i64, 32), "i64(u64(index) + u64(x))");
}

TEST(CudaNames, TakenOnesGetAnUnderscore)
{
    for (const std::string name : {"int", "template", "expf", "inputs", "kBlockThreads", "to_f32",
                                   "divide_i32", "u8", "threadIdx", "store", "mine_"})
        EXPECT_EQ(cuda_identifier(name), name + "_");
    for (const std::string name :
         {"x", "mean", "k", "kind", "warp_sum", "segment_weight", "i32", "intel", "lane"})
        EXPECT_EQ(cuda_identifier(name), name);
    for (const std::string name : {"State", "_x", "NULL"})
        EXPECT_EQ(cuda_identifier(name), "own" + name);
    EXPECT_EQ(cuda_name(Type::i32), "int");
    EXPECT_EQ(cuda_name(Type::u32), "unsigned");
    EXPECT_EQ(cuda_name(Type::bf16), "bf16");
}

TEST(CudaPrinter, DeepTreesAreNoTrouble)
{
    Expression sum = make_name("x");
    for (int i = 1; i < kDeepestExpression - 2; ++i)
        sum = i % 2 == 0 ? sum + make_name("x") : make_name("x") - sum;
    Operator op;
    op.name = "deep";
    op.parameters = {{"x", Type::i32, false, {}}};
    op.state = {{"s", Type::i32, Expression(0), {}}};
    op.lift.assignments = {{"s", sum, {}}};
    op.combine.assignments = {{"s", make_field(Operand::earlier, "s"), {}}};
    op = check(std::move(op));
    EXPECT_GT(CudaPrinter(op, 32).expression(op.lift.assignments[0].value).size(), 2000u);
}

}  // namespace
}  // namespace segfold::cuda_printer_test
