// Gradients of running results: of scans both ways, beside results and maps, and what they print as.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/derived.h"
#include "dsl/evaluation/small_fold.h"
#include "dsl/laws/gradient_law.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"

namespace segfold::test::running_gradient_test {
namespace {

Operator read(const std::string& text) { return parse_operator("test", text); }

std::string body_of(const Gradient& gradient)
{
    const auto text = print(gradient.operators.back());
    return text.substr(text.find("  state"));
}

TEST(RunningGradient, OfARunningSumIsASumFromTheEnd)
{
    const auto op =
        read("operator f(x: f32) -> each f32 { state s: f32 = 0 lift x combine(a, b) a + b scan(p, q) q }");
    const auto made = gradient(op, "x");
    EXPECT_EQ(made.means, "reverse scan");
    ASSERT_EQ(made.operators.size(), 1u);
    EXPECT_EQ(body_of(made),
              "  state by_s: f32 = 0\n  lift grad_result\n  combine(a, b) a + b\n"
              "  scan reverse(later, through) grad_result + later\n  laws commutative\n}\n");
    ArraysByName arrays;
    arrays["x"] = Array::of<float>(Type::f32, std::vector<float>{1, 2, 3, 4});
    arrays["grad_result"] = Array::of<float>(Type::f32, std::vector<float>{1, 10, 100, 5});
    fold_few_in_turn(made.operators, arrays, std::vector<std::int64_t>{0, 3, 4});
    const auto found = arrays.at("grad_x").as<float>();
    EXPECT_EQ(std::vector<float>(found.begin(), found.end()), (std::vector<float>{111, 110, 100, 5}));
}

// g = grad + decay' g', with decay' and g' of the element behind.
TEST(RunningGradient, OfALinearRecurrenceIsALinearRecurrenceFromTheEnd)
{
    const auto op = standard_operator("linear_recurrence", Type::f64);
    const auto by_input = gradient(op, "input"), by_decay = gradient(op, "decay");
    EXPECT_EQ(by_input.means, "reverse scan");
    EXPECT_EQ(body_of(by_input), R"(  state { by_h: f64 = 0; rate_h: f64 = 1 }
  lift {
    by_h = grad_result * decay;
    rate_h = decay;
  }
  combine(a, b) {
    by_h = a.by_h + b.by_h * a.rate_h;
    rate_h = a.rate_h * b.rate_h;
  }
  scan reverse(later, through) grad_result + later.by_h
}
)");
    EXPECT_EQ(by_decay.means, "two scans") << "it reads the state before each element";
    for (const auto& [made, wanted] :
         {std::pair(by_input, std::vector<double>{1 + 3 * (10 - 1 * 100), 10 - 1 * 100, 100}),
          {by_decay, std::vector<double>{0, (10 - 1 * 100) * 1, 100 * 7}}}) {
        ArraysByName arrays;
        arrays["decay"] = Array::of<double>(Type::f64, std::vector<double>{2, 3, -1});
        arrays["input"] = Array::of<double>(Type::f64, std::vector<double>{1, 4, 2});
        arrays["grad_result"] = Array::of<double>(Type::f64, std::vector<double>{1, 10, 100});
        fold_few_in_turn(made.operators, arrays, std::vector<std::int64_t>{0, 3});
        const auto found = arrays.at(made.result).as<double>();
        EXPECT_EQ(std::vector<double>(found.begin(), found.end()), wanted) << print(made);
    }
}

TEST(RunningGradient, AgreesWithDifferences)
{
    const std::string head = "operator o(x: f64, w: f64, k: scalar f64) -> ";
    const std::string sums =
        "state { s: f64 = 0; q: f64 = 0 } lift { s = x * k; q = w * x * x } combine(a, b) { s = a.s + b.s; q "
        "= a.q + b.q } ";
    const std::string affine =
        "state { s: f64; g: f64 } lift { s = x; g = tanh(x * w) } combine(a, b) { s = a.s * b.g + b.s; g = "
        "a.g * b.g } ";
    const std::string nested =
        "state { s: f64 = 0; t: f64 = 0; u: f64 = 0 } lift { s = x; t = w; u = 0 } combine(a, b) { s = a.s + "
        "b.s; t = a.t + b.t; u = a.u + b.u + a.s * b.t } ";
    for (const auto& text :
         {head + "each f64 { " + sums + "scan(p, q) q.q - p.s * q.s * x }",
          head + "each f64 { " + sums + "scan reverse(p, q) sqrt(1 + q.q * q.q) + p.s / k }",
          head + "each f64 { " + affine + "scan(p, q) q.s * x }",
          head + "each f64 { " + affine + "scan reverse(p, q) q.s * q.g }",
          head + "(each y: f64, each z: f64) { " + nested + "scan(p, q) { y = q.u; z = p.u * w } }",
          head + "(r: f64, each y: f64) { " + nested + "finish s * u scan(p, q) q.u * q.s }",
          head + "(r: f64, each y: f64, each z: f64) { " + sums +
              "finish s * q map { y = r * x } scan(p, q) { z = p.s * q.q } }",
          head + "each f64 { state m: f64 = -inf lift x * k combine(a, b) max(a, b) scan(p, q) q * w }"}) {
        const auto op = read(text);
        for (const std::string parameter : {"x", "w"}) {
            if (!reads(op.lift, parameter))
                continue;
            const auto finding = judge_gradient(op, parameter, 20);
            EXPECT_TRUE(finding.is_right()) << print(finding, op);
        }
    }
    // Only the map reads k, and only the scan v.
    const auto parts = read(
        "operator o(x: f64, k: scalar f64, v: scalar f64) -> (each y: f64, each z: f64) { state s: "
        "f64 = 0 lift x combine(a, b) a + b map { y = s * k } scan(p, q) { z = q * sin(v) } }");
    for (const std::string parameter : {"k", "v"})
        EXPECT_TRUE(judge_gradient(parts, parameter, 20).is_right()) << parameter;
    const auto by_scalar =
        judge_gradient(read(head + "each f64 { " + sums + "scan(p, q) q.s * x }"), "k", 20);
    EXPECT_TRUE(by_scalar.is_right());
}

// A gradient by scans is an operator with a scan, and has a gradient itself.
TEST(RunningGradient, OfGradientsByScans)
{
    const auto op = gradient(standard_operator("product", Type::f64), "x").operators.back();
    ASSERT_TRUE(op.scan);
    EXPECT_TRUE(judge_gradient(op, "x", 20).is_right());
}

TEST(RunningGradient, IsRefusedWhereItWouldKeepTooMuch)
{
    const auto op = standard_operator("matrix_3x3", Type::f32);
    EXPECT_EQ(message_of<InputError>([&] {
                  std::string text = print(op);
                  text.replace(text.find("-> ("), text.find(") {") - text.find("-> (") + 1, "-> each f32");
                  text.replace(text.rfind('}'), 1, "scan(p, q) q.m00 + q.m11 + q.m22 }");
                  return gradient(read(text), "m00");
              }).substr(0, 70),
              "operator matrix_3x3 has no gradient by 'm00': its scan has outputs tha");
    EXPECT_EQ(
        message_of<InputError>([&] {
            return gradient(
                read("operator f(x: f64, k: scalar f64) -> (r: f64, each y: f64) { state s: f64 = 0 lift "
                     "x * k combine(a, b) a + b scan(p, q) q }"),
                "k");
        }),
        "operator f has no gradient by 'k': its scan and its other results depend on it, and by a table or a "
        "scalar "
        "gradients are made of one of these");
}

}  // namespace
}  // namespace segfold::test::running_gradient_test
