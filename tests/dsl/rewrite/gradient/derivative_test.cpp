// Derivatives of expressions: what they print as, and what they are at corners.
#include "dsl/rewrite/gradient/derivative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "tests/common/evaluate.h"

namespace segfold::derivative_test {
namespace {

/// The derivative of an expression by x, and of h by x where it is 1, as text; locals stand before it.
std::string derivative_of(const std::string& expression)
{
    const auto op = parse_operator(
        "test", "operator f(x: f64, y: f64, h: f16, n: i32, t: table f64) -> f64 { state s: f64 = 0 lift " +
                    expression + " combine(a, b) a + b }");
    TermGraph terms;
    const auto value = terms.values(op.lift, {}).at("s");
    Derivative derivative(terms, Type::f64);
    for (const auto& [name, type] : {std::pair("x", Type::f64), {"h", Type::f16}})
        derivative.set(terms.name(name, type), derivative.one());
    const auto found = derivative.of(value);
    if (!found.has_value())
        return "0";
    const auto block = terms.block({{"s", found}}, {"x", "y", "h", "n", "t"});
    std::string text;
    for (const auto& let : block.lets)
        text += "let " + let.name + " = " + print(let.value) + "; ";
    return text + print(block.assignments.at(0).value);
}

TEST(Derivative, PrintsAsAPersonWouldWriteIt)
{
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"x", "1"},
        {"y", "0"},
        {"x * x", "2 * x"},
        {"x * y", "y"},
        {"x / y", "1 / y"},
        {"y / x", "-(y / x / x)"},
        {"-x", "-1"},
        {"y - x * 3", "-3"},
        {"x + y + 1", "1"},
        {"fma(x, y, x)", "1 + y"},
        {"sqrt(x)", "x == 0 ? 0 : 1 / (2 * sqrt(x))"},
        {"rsqrt(x)", "-(rsqrt(x) / (2 * x))"},
        {"exp(x)", "exp(x)"},
        {"exp2(x)", "0.6931471805599453 * exp2(x)"},
        {"expm1(x)", "exp(x)"},
        {"log(x)", "1 / x"},
        {"log2(x)", "1 / (0.6931471805599453 * x)"},
        {"log1p(x)", "1 / (1 + x)"},
        {"pow(x, 2)", "2 * x"},
        {"pow(x, 3)", "3 * pow(x, 2)"},
        {"pow(x, y)", "y == 0 ? 0 : y * pow(x, y - 1)"},
        {"pow(y, x)", "y == 0 ? 0 : pow(y, x) * log(y)"},
        {"sin(x)", "cos(x)"},
        {"cos(x)", "-sin(x)"},
        {"tanh(x)", "let part = tanh(x); 1 - part * part"},
        {"abs(x)", "x > 0 ? 1 : x < 0 ? -1 : 0"},
        {"min(x, y)", "min(x, y) == x ? 1 : 0"},
        {"max(x, 0)", "x >= 0 ? 1 : 0"},
        {"max(0, x)", "x > 0 ? 1 : 0"},
        {"min(2, x)", "x < 2 ? 1 : 0"},
        {"copysign(x, y)", "copysign(x, y) == x ? 1 : -1"},
        {"copysign(y, x)", "0"},
        {"floor(x)", "0"},
        {"ceil(x)", "0"},
        {"round(x)", "0"},
        {"f64(i32(x))", "0"},
        {"f64(popcount(n))", "0"},
        {"f64(n) * x", "f64(n)"},
        {"t[n] * x", "t[n]"},
        {"isnan(x) ? 0 : x", "isnan(x) ? 0 : 1"},
        {"x > 0 && y > 0 ? x : 0", "x > 0 && y > 0 ? 1 : 0"},
        {"log(1 + exp(x))", "let part = exp(x); part / (1 + part)"},
        {"{ let e = exp(x * y); s = e * e + e }", "let e = exp(x * y); let d_e = y * e; 2 * d_e * e + d_e"},
    };
    for (const auto& [expression, derivative] : cases)
        EXPECT_EQ(derivative_of(expression), derivative) << expression;
}

// A product of two f16 rounds, and its derivative need not.
TEST(Derivative, KeepsTheWidestTypeThroughNarrowerOnes)
{
    EXPECT_EQ(derivative_of("f64(h * h)"), "2 * f64(h)");
    EXPECT_EQ(derivative_of("f64(f32(x))"), "1");
}

// Such a conditional only spares the computation where both sides are equal.
TEST(Derivative, PassesEqualitiesThatContinueTheOtherSide)
{
    EXPECT_EQ(derivative_of("x == y ? y : y * exp(x - y)"), "exp(x - y) * y");
    EXPECT_EQ(derivative_of("x != y ? y * (x / y) : y"), "y / y") << "also where 'not equal' is asked";
    EXPECT_EQ(derivative_of("x == y ? 2 * y : y * exp(x - y)"), "x == y ? 0 : exp(x - y) * y") << "a step";
    EXPECT_EQ(derivative_of("x == 0 ? 1 : sin(x) / x"), "x == 0 ? 0 : (cos(x) - sin(x) / x) / x");
}

TEST(Derivative, CancelsWhatOnlyRoundingLeaves)
{
    // The error of a sum by Knuth's two-sum has no derivative.
    EXPECT_EQ(derivative_of("{ let s1 = x + y; s = (x - (s1 - (s1 - x))) + (y - (s1 - x)) }"), "0");
}

/// The derivative at values of x and y.
double value_at(const std::string& expression, double x, double y = 0)
{
    const auto derivative = derivative_of(expression);
    const auto text = derivative.find("let") == std::string::npos
                          ? derivative
                          : "{ " + derivative.substr(0, derivative.rfind(';') + 1) +
                                " s =" + derivative.substr(derivative.rfind(';') + 1) + " }";
    return Evaluation(text, Type::f64, {{"x", Type::f64}, {"y", Type::f64}}).at<double>(x, y);
}

TEST(Derivative, AtCornersIsThatOfTheTable)
{
    EXPECT_EQ(value_at("max(x, y)", 2, 2), 1) << "to the earlier operand";
    EXPECT_EQ(value_at("max(y, x)", 2, 2), 0);
    EXPECT_EQ(value_at("min(x, y)", 2, 2), 1);
    EXPECT_EQ(value_at("min(y, x)", 2, 2), 0);
    EXPECT_EQ(value_at("max(x, y)", 2, NAN), 1) << "a number wins against NaN";
    EXPECT_EQ(value_at("max(y, x)", 2, NAN), 1);
    EXPECT_EQ(value_at("max(x, 0)", 0), 1);
    EXPECT_EQ(value_at("abs(x)", 0), 0);
    EXPECT_EQ(value_at("sqrt(x)", 0), 0);
    EXPECT_EQ(value_at("sqrt(x * x)", 0), 0);
    EXPECT_EQ(value_at("pow(x, y)", 0, 0), 0);
    EXPECT_EQ(value_at("pow(y, x)", 2, 0), 0);
    EXPECT_EQ(value_at("copysign(x, y)", -2, 3), -1);
}

TEST(Derivative, IsNeverMadeNaNByASideThatIsNotTaken)
{
    EXPECT_EQ(value_at("x > 0 ? sqrt(x) * log(x) : 0", -1), 0);
    EXPECT_EQ(value_at("(y == 0 ? 0 : 1 / y) * x", 3, 0), 0);
    EXPECT_EQ(value_at("exp(y == 0 ? 0 : x / y)", 3, 0), 0);
}

}  // namespace
}  // namespace segfold::derivative_test
