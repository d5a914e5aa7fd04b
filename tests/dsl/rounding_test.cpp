// A number in a text takes the type of its context, and is rounded to this type once.
#include "dsl/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codegen/catalogue.h"
#include "codegen/emit.h"
#include "dsl/cpp/define.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"

namespace segfold::rounding_test {
namespace {

/// A number, a type, and the bits of the nearest number of that type; ties go to the even one.
struct Case {
    const char* text;
    Type type;
    std::uint64_t bits;
};

/// Each number is so close to the midpoint of two numbers of its type that a wider type rounds it to the
/// midpoint.
constexpr Case kCases[] = {
    {"1.00000005960464477540", Type::f32, 0x3f800001},
    {"1.000000059604644775390625", Type::f32, 0x3f800000},
    {"1.0000000596046447753906249999", Type::f32, 0x3f800000},
    {"1.000000178813934326171875", Type::f32, 0x3f800002},
    {"1.0000001788139343261718749999", Type::f32, 0x3f800001},
    {"9007199791611905", Type::f32, 0x5a000001},
    {"9007199791611904", Type::f32, 0x5a000000},
    {"18446744073709551615", Type::f32, 0x5f800000},
    {"7.006492321624085354618e-46", Type::f32, 0},  // half of the smallest number, rounded down
    {"7.006492321624085354619e-46", Type::f32, 1},
    {"340282356779733661637539395458142568447.9", Type::f32, 0x7f7fffff},
    {"2049.0000000000001", Type::f16, 0x6801},
    {"2049.0", Type::f16, 0x6800},
    {"2049", Type::f16, 0x6800},
    {"65519.999999999999999", Type::f16, 0x7bff},
    {"2.98023223876953125e-8", Type::f16, 0},
    {"2.98023223876953125001e-8", Type::f16, 1},
    {"257.0000001", Type::bf16, 0x4381},
    {"257.00000000000000000001", Type::bf16, 0x4381},
    {"256.99999999999999999999", Type::bf16, 0x4380},
    {"257.0", Type::bf16, 0x4380},
    {"16842753", Type::bf16, 0x4b81},
    {"3000.0000000000000000001", Type::bf16, 0x453c},
    {"1.00000005960464477540", Type::f64, 0x3ff0000010000000},
};

std::uint64_t sign_of(Type type) { return std::uint64_t{1} << (8 * size_bytes(type) - 1); }

/// The bits of the identity, which is the tested expression.
std::uint64_t evaluated(const Operator& op)
{
    const auto bytecode = compile_bytecode(op);
    Evaluator<double> evaluator(bytecode);
    Slot<double> value{};
    evaluator.identity(&value);
    std::uint64_t bits = 0;
    Machine<double>::store(value, op.state[0].type, &bits, 0);
    return bits;
}

Operator operator_of(const std::string& text, Type type)
{
    return parse_operator("test", "operator o(x: " + std::string(name(type)) + ") -> " +
                                      std::string(name(type)) + " { state s: " + std::string(name(type)) +
                                      " = " + text + "\n lift x\n combine(a, b) a }");
}

TEST(Rounding, NumbersOfATextAreRoundedOnce)
{
    for (const auto& [text, type, bits] : kCases) {
        SCOPED_TRACE(std::string(text) + " " + std::string(name(type)));
        EXPECT_EQ(evaluated(operator_of(text, type)), bits);
        EXPECT_EQ(evaluated(operator_of(std::string("-") + text, type)), bits | sign_of(type));
        EXPECT_EQ(evaluated(operator_of(std::string(name(type)) + "(" + text + ")", type)), bits);
    }
}

TEST(Rounding, WhatIsPrintedReadsAsTheSameNumber)
{
    for (const auto& [text, type, bits] : kCases)
        for (const auto& signed_text : {std::string(text), "-" + std::string(text)}) {
            SCOPED_TRACE(signed_text);
            const auto op = operator_of(signed_text, type);
            const auto again = parse_operator("test", print(op));
            EXPECT_EQ(evaluated(again), evaluated(op)) << print(op);
            EXPECT_TRUE(same(*again.state[0].identity, *op.state[0].identity)) << print(op);
            EXPECT_EQ(print(again), print(op));
        }
    EXPECT_EQ(print(parse_expression("test", "0.1")), "0.1");
    EXPECT_EQ(print(parse_expression("test", "1.0000000596046448")), "1.0000000596046448")
        << "the shortest that reads so";
    EXPECT_EQ(print(Expression(0x1.000001p0)), "1.000000059604644775390625")
        << "the shortest text of this double lies above it";
}

TEST(Rounding, EmittedTextsHaveTheNearestNumber)
{
    const auto source = [](const char* text) {
        const Problem problem(
            parse_operator("test", "operator o(x: f32) -> f32 { state s: f32 = 0\n lift x * " +
                                       std::string(text) + "\n combine(a, b) a + b }"),
            SegmentForm::offsets);
        const auto& stage = Catalogue::standard().stage("thread_per_segment");
        return emit(problem, stage, default_configuration(stage)).source;
    };
    EXPECT_NE(source("1.00000005960464477540").find("1.0000001f"), std::string::npos);
    EXPECT_NE(source("9007199791611905").find("9007200000000000.0f"), std::string::npos)
        << source("9007199791611905");
}

/// A double means its exact value, even if its shortest text means another number.
TEST(Rounding, NumbersOfCppAreWhatTheyAre)
{
    EXPECT_TRUE(same(Expression(0.1), parse_expression("test", "0.1")));
    EXPECT_FALSE(same(Expression(0x1.000001p0), parse_expression("test", "1.0000000596046448")));
    const auto built = define("o", Field<float>("sum", 0), [](auto& op) {
        Column<float> x(op, "x");
        op.lift([&] { return x * 0x1.000002p0f; });
        op.combine([](auto a, auto b) { return a + b; });
    });
    EXPECT_EQ(rounded_literal(*built.lift.assignments[0].value.argument(1), Type::f32), 0x1.000002p0);
}

TEST(Rounding, SidesAreKnownWhereTheyCount)
{
    EXPECT_EQ(near_decimal("0.1", 0.1), (NearReal{0.1, 0}));
    EXPECT_EQ(near_decimal("1.00000005960464477540", 0x1.000001p0), (NearReal{0x1.000001p0, 1}));
    EXPECT_EQ(near_decimal("-1.00000005960464477540", -0x1.000001p0), (NearReal{-0x1.000001p0, -1}));
    EXPECT_EQ(near_decimal("100000005960464477540e-20", 0x1.000001p0), (NearReal{0x1.000001p0, 1}));
    EXPECT_EQ(near_decimal("0.00000000010000000596046447753e+10", 0x1.000001p0),
              (NearReal{0x1.000001p0, -1}));
    EXPECT_EQ(near_integer(true, 9007199791611905), (NearReal{-9007199791611904.0, -1}));
    EXPECT_EQ(round_to(Type::f16, {1e300}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(round_to(Type::bf16, {-1e300}), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(round_to(Type::f16, {std::nan("")})));
    EXPECT_TRUE(std::signbit(round_to(Type::f16, {-0.0})));
}

}  // namespace
}  // namespace segfold::rounding_test
