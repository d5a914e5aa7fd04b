// Gradients of operators: their means, their text, and what has none.
#include "dsl/derived.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/evaluation/small_fold.h"
#include "dsl/printer.h"
#include "dsl/rewrite/gradient/backward.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"

namespace segfold::test::gradient_test {
namespace {

Operator read(const std::string& text) { return parse_operator("test", text); }

Array doubles(const std::vector<double>& values) { return Array::of<double>(Type::f64, values); }

/// The gradient by x over segments, for gradients of results that are given by name.
std::vector<double> gradient_at(const Operator& op, std::map<std::string, std::vector<double>> arrays,
                                const std::vector<std::int64_t>& offsets)
{
    const auto made = gradient(op, "x");
    ArraysByName all;
    for (const auto& [name, values] : arrays)
        all[name] = doubles(values);
    fold_few_in_turn(made.operators, all, offsets);
    const auto found = all.at(made.result).as<double>();
    return {found.begin(), found.end()};
}

TEST(Gradient, OfLogSumExpIsOneMap)
{
    const auto found = gradient(standard_operator("log_sum_exp", Type::f32), "x");
    EXPECT_EQ(found.means, "totals");
    EXPECT_EQ(found.result, "grad_x");
    EXPECT_EQ(found.of, std::vector<std::string>{"result"});
    EXPECT_EQ(found.names, std::vector<std::string>{"grad_result"});
    EXPECT_EQ(print(found), R"(# Gradient of log_sum_exp by x.
operator log_sum_exp_gradient_x(x: f32, grad_result: table f32) -> (each grad_x: f32) {
  state { greatest: f32 = -inf; sum: f32 = 0 }
  lift {
    greatest = isnan(x) ? -inf : x;
    sum = isnan(x) ? nan : 1;
  }
  combine(a, b) {
    let top = max(a.greatest, b.greatest);
    let left = a.greatest == top ? a.sum : a.sum * exp(a.greatest - top);
    let right = b.greatest == top ? b.sum : b.sum * exp(b.greatest - top);
    greatest = top;
    sum = left + right;
  }
  map isnan(x) ? 0 : grad_result[segment] * (exp(x - greatest) / sum)
  laws commutative
}
)");
}

TEST(Gradient, OfSumsReadsOfTotalsWhatItNeeds)
{
    const auto text_of = [](const std::string& op, const std::string& column = "x") {
        const auto found = gradient(standard_operator(op, Type::f32), column);
        EXPECT_EQ(found.means, "sums") << op;
        EXPECT_EQ(found.operators.size(), 1u) << op;
        const auto text = print(found);
        return text.substr(text.find("  state"));
    };
    EXPECT_EQ(
        text_of("sum"),
        "  state nothing: bool = false\n  lift false\n  combine(a, b) a || b\n  map grad_result[segment]\n"
        "  laws commutative, idempotent\n}\n");
    EXPECT_NE(text_of("dot").find("  map grad_result[segment] * y\n"), std::string::npos) << text_of("dot");
    EXPECT_NE(text_of("mean").find("  state n: i64 = 0\n"), std::string::npos) << "the sum is not needed";
    EXPECT_NE(text_of("mean").find("  map f32(grad_result[segment] / f64(n))\n"), std::string::npos);
    EXPECT_NE(text_of("weighted_mean", "w").find("grad_result[segment] * ((x - sum / weight) / weight)"),
              std::string::npos)
        << text_of("weighted_mean", "w");
    EXPECT_NE(text_of("spmv", "value").find("grad_result[segment] * x[column]"), std::string::npos);
}

TEST(Gradient, OfEachStandardOperatorHasTheCheapestMeans)
{
    const std::map<std::string, std::string> means = {{"sum", "sums"},
                                                      {"mean", "sums"},
                                                      {"dot", "sums"},
                                                      {"cosine", "sums"},
                                                      {"kahan_sum", "sums"},
                                                      {"centre", "sums"},
                                                      {"normalise", "sums"},
                                                      {"rms_norm", "sums"},
                                                      {"norm", "totals"},
                                                      {"mean_variance", "totals"},
                                                      {"moments", "totals"},
                                                      {"softmax", "totals"},
                                                      {"layer_norm", "totals"},
                                                      {"log_softmax", "totals"},
                                                      {"correlation", "totals"},
                                                      {"cross_entropy", "totals"},
                                                      {"softmax_mean", "totals"},
                                                      {"standardise", "totals"},
                                                      {"max", "places"},
                                                      {"argmin", "places"},
                                                      {"first", "places"},
                                                      {"last", "places"},
                                                      {"top_four", "places"},
                                                      {"rescale", "places"},
                                                      {"keep_first", "places"},
                                                      {"product", "two scans"},
                                                      {"max_subarray", "two scans"},
                                                      {"softmax_normaliser", "two scans"}};
    for (const auto& [name, expected] : means)
        EXPECT_EQ(gradient(standard_operator(name, Type::f32), "x").means, expected) << name;
    EXPECT_EQ(gradient(standard_operator("affine", Type::f32), "scale").means, "two scans");
    EXPECT_EQ(gradient(standard_operator("matrix_2x2", Type::f32), "m01").means, "two scans");
}

TEST(Gradient, PrintsAsTextThatReadsAsTheSameOperators)
{
    std::size_t num_read = 0;
    for (const auto& known : standard_operators())
        for (const auto type : {Type::f16, Type::f32}) {
            if (std::ranges::find(known.types, type) == known.types.end())
                continue;
            const auto op = standard_operator(known.name, type);
            for (const auto& parameter : op.parameters) {
                Gradient found;
                try {
                    found = gradient(op, parameter.name);
                } catch (const InputError&) {
                    continue;
                }
                for (const auto& step : found.operators) {
                    EXPECT_TRUE(same(parse_operator("printed", print(step)), step)) << print(step);
                    ++num_read;
                }
            }
        }
    EXPECT_GT(num_read, 150u);
}

TEST(Gradient, GoesToTheFirstOfEqualValues)
{
    const auto op = standard_operator("max", Type::f64);
    EXPECT_EQ(gradient_at(op, {{"x", {1, 3, 3, 2, NAN, 5}}, {"grad_result", {10, 20}}}, {0, 4, 6}),
              (std::vector<double>{0, 10, 0, 0, 0, 20}));
    EXPECT_EQ(gradient_at(op, {{"x", {NAN, NAN}}, {"grad_result", {10}}}, {0, 2}),
              (std::vector<double>{0, 0}));
    EXPECT_EQ(
        gradient_at(standard_operator("min", Type::f64), {{"x", {2, 1, 1}}, {"grad_result", {10}}}, {0, 3}),
        (std::vector<double>{0, 10, 0}));
}

// One rule, with an identity and without: of equal values the one with the lowest index is chosen.
TEST(Gradient, GoesToTheFirstOfEqualValuesWithoutIdentity)
{
    const auto at = [](const std::string& text, std::vector<double> x) {
        const auto op = read("operator f(x: f64) -> f64 { " + text + " }");
        EXPECT_EQ(gradient(op, "x").means, "places") << text;
        const auto end = static_cast<std::int64_t>(x.size());
        return gradient_at(op, {{"x", std::move(x)}, {"grad_result", {10}}}, {0, end});
    };
    const std::vector<double> first = {0, 10, 0};
    EXPECT_EQ(at("state m: f64 lift x combine(a, b) min(a, b)", {2, 1, 1}), first);
    EXPECT_EQ(at("state m: f64 lift x combine(a, b) max(a, b)", {1, 2, 2}), first);
    const std::string argmin = "state { v: f64; w: f64 } lift { v = floor(x); w = x } combine(a, b) ";
    EXPECT_EQ(at(argmin + "{ v = min(a.v, b.v); w = b.v < a.v ? b.w : a.w } finish w", {2, 1, 1}), first);
    EXPECT_EQ(at(argmin + "{ v = max(a.v, b.v); w = b.v > a.v ? b.w : a.w } finish w", {1, 2, 2}), first);
    // Of the two least, and of the two greatest: the second is the next one.
    const std::string two = "state { p: f64; q: f64 } lift { p = x; q = ";
    const std::vector<double> second = {0, 0, 10};
    EXPECT_EQ(
        at(two + "inf } combine(a, b) { p = min(a.p, b.p); q = min(max(a.p, b.p), min(a.q, b.q)) } finish q",
           {2, 1, 1}),
        second);
    EXPECT_EQ(
        at(two + "-inf } combine(a, b) { p = max(a.p, b.p); q = max(min(a.p, b.p), max(a.q, b.q)) } finish q",
           {1, 2, 2}),
        second);
}

// At 255 elements a count of u8 is still exact, but with one element more it is 0.
TEST(Gradient, TakesNoTotalsBesideACountThatMayWrap)
{
    const auto with_count = [](const std::string& type) {
        return read(
            "operator f(x: f64) -> f64 { state { n: " + type +
            " = 0; mean: f64 = 0 } lift { n = 1; mean = x } combine(a, b) { let total = a.n + b.n; let "
            "share = total == 0 ? 0.0 : f64(b.n) / f64(total); n = total; mean = a.mean + (b.mean - "
            "a.mean) * share } finish mean }");
    };
    EXPECT_EQ(gradient(with_count("i64"), "x").means, "totals");
    for (const auto* type : {"u8", "i16"})
        EXPECT_EQ(gradient(with_count(type), "x").means, "two scans") << type;
    const auto found = gradient_at(with_count("u8"),
                                   {{"x", std::vector<double>(255, 1.5)}, {"grad_result", {255}}}, {0, 255});
    for (const auto value : found)
        EXPECT_NEAR(value, 1, 1e-12);
}

// Beside -inf, the identity of max, the derivative of the weights is infinity over infinity.
TEST(Gradient, ByTwoScansIsNumbersBesideAnInfiniteIdentity)
{
    const auto op = read(
        "operator f(x: f64, v: f64) -> f64 { state { m: f64 = -inf; s: f64 = 0 } lift { m = x; s = v } "
        "combine(a, "
        "b) { let w = 1 / (1 + exp(b.m - a.m)); m = max(a.m, b.m) + log1p(exp(-abs(a.m - b.m))); s = a.s * w "
        "+ "
        "b.s * (1 - w) } finish s }");
    const auto softmax_mean = gradient_by_scans(op, "x");
    ArraysByName arrays;
    arrays["x"] = doubles({0.5, 0.5, 7});
    arrays["v"] = doubles({1, 3, 2});
    arrays["grad_result"] = doubles({1, 1});
    fold_few_in_turn(softmax_mean.operators, arrays, std::vector<std::int64_t>{0, 2, 3});
    const auto found = arrays.at("grad_x").as<double>();
    EXPECT_NEAR(found[0], -0.5, 1e-15) << print(softmax_mean);
    EXPECT_NEAR(found[1], 0.5, 1e-15);
    EXPECT_EQ(found[2], 0);
    // Where only comparisons read the infinity, nothing needs a guard.
    EXPECT_EQ(print(gradient(standard_operator("max_subarray", Type::f32), "x")).find("== -inf"),
              std::string::npos);
}

TEST(Gradient, ByTwoScansIsExact)
{
    const auto op = standard_operator("product", Type::f64);
    EXPECT_EQ(gradient_at(op, {{"x", {2, 0, 3, 5, 7}}, {"grad_result", {1, 10}}}, {0, 3, 5}),
              (std::vector<double>{0, 6, 0, 70, 50}))
        << "a division by the element would give NaN at 0";
    // The earlier operand stays on the left: 2 (3 v + b) + c has the derivative 2 by b.
    const auto affine = standard_operator("affine", Type::f64);
    const auto made = gradient(affine, "shift");
    EXPECT_EQ(made.means, "reverse scan") << "earlier maps do not change the derivative";
    EXPECT_EQ(gradient(affine, "scale").means, "two scans");
    ASSERT_EQ(made.operators.size(), 1u);
    ArraysByName arrays;
    arrays["scale"] = doubles({3, 2});
    arrays["shift"] = doubles({1, 1});
    arrays["grad_scale"] = doubles({0});
    arrays["grad_shift"] = doubles({1});
    fold_few_in_turn(made.operators, arrays, std::vector<std::int64_t>{0, 2});
    const auto found = arrays.at(made.result).as<double>();
    EXPECT_EQ(std::vector<double>(found.begin(), found.end()), (std::vector<double>{2, 1}));
}

// The fields of the state and of the gradient may be called like columns.
TEST(Gradient, GivesNamesThatDoNotCollide)
{
    const auto op = read(
        "operator f(x: f64, grad_x: f64) -> (r: f64) { state { x: f64 = 0; n: f64 = 0 } lift { x = x * "
        "grad_x; n = 1 } "
        "combine(a, b) { x = a.x + b.x; n = a.n + b.n } finish x * x / n }");
    const auto made = gradient(op, "x");
    EXPECT_EQ(made.result, "grad_x_");
    ArraysByName arrays;
    arrays["x"] = doubles({1, 2});
    arrays["grad_x"] = doubles({3, 1});
    arrays["grad_r"] = doubles({2});
    fold_few_in_turn(made.operators, arrays, std::vector<std::int64_t>{0, 2});
    EXPECT_EQ(arrays.at("grad_x_").as<double>()[0], 2 * 2 * 5.0 / 2 * 3) << print(made);
}

// Names that the rewriting makes are in nobody's way, and differ from each other.
TEST(Gradient, GivesNamesThatTheOperatorHasNot)
{
    const std::string names =
        "nothing num_elements before through suffix part prefix_m prefix_n place_of_m sum_by_r count any sum "
        "grad_r grad_r_ part_of_grad_x index_ by_n rate_n later running_grad_x rest_of_grad_x ";
    std::vector<std::string> all;
    std::string parameters, product = "x";
    for (std::size_t from = 0, to; (to = names.find(' ', from)) != std::string::npos; from = to + 1) {
        all.push_back(names.substr(from, to - from));
        parameters += ", " + all.back() + ": f64";
        product += " * " + all.back();
    }
    const std::string head = "operator f(x: f64, p: scalar f64" + parameters + ") -> (";
    const std::string combine = " n = a.n * b.n; n_ = a.n_ + b.n_ } ";
    const std::string state =
        " { state { m: f64 = -inf; n: f64 = 1; n_: f64 = 0 } lift { m = x; n = 1 + x * p; n_ = " + product +
        " } combine(a, b) { m = max(a.m, b.m); ";
    const std::string finish = "finish { r = m + n_; r_ = n * n_ * f64(length) } ";
    for (const auto& text :
         {head + "r: f64, r_: f64)" + state + combine + finish + "}",
          head + "r: f64, r_: f64, each y: f64)" + state + combine + finish + "map { y = r * r_ * x } }",
          head + "r: f64, r_: f64, each y: f64)" + state + combine + finish +
              "scan(o, q) { y = q.n * q.n_ * x } }"}) {
        const auto op = read(text);
        for (const std::string parameter : {"x", "nothing", "p"}) {
            if (op.scan && parameter == "p")
                continue;
            EXPECT_NO_THROW((void)gradient(op, parameter)) << text << parameter;
            EXPECT_NO_THROW((void)gradient_by_scans(op, parameter)) << text << parameter;
        }
    }
    const std::string longest(64, 'x');
    EXPECT_EQ(gradient(read("operator f(" + longest + ": f64) -> f64 { state s: f64 = 0 lift " + longest +
                            " combine(a, b) a + b }"),
                       longest)
                  .result,
              "grad_" + std::string(59, 'x'));
}

TEST(Gradient, OfOperatorsWithoutIdentity)
{
    const auto op =
        read("operator f(x: f64) -> f64 { state p: f64 lift x combine(a, b) a * b finish p * f64(length) }");
    EXPECT_EQ(gradient_at(op, {{"x", {2, 3, 5, 7}}, {"grad_result", {1, 1}}}, {0, 3, 4}),
              (std::vector<double>{45, 30, 18, 1}));
    EXPECT_EQ(gradient(standard_operator("keep_first", Type::f32), "x").operators.front().allows_empty(),
              true);
}

TEST(Gradient, OfAMapWithoutTotalsOfItsOwnIsOneOperator)
{
    const auto op = standard_operator("share", Type::f64);
    const auto made = gradient(op, "x");
    EXPECT_EQ(made.operators.size(), 1u) << print(made);
    EXPECT_EQ(gradient_at(op, {{"x", {1, 3}}, {"grad_result", {1, 0}}}, {0, 2}),
              (std::vector<double>{0.1875, -0.0625}));
    EXPECT_EQ(gradient(standard_operator("softmax", Type::f32), "x").operators.size(), 2u);
}

// A map of an operator that needs two scans: totals, sums, prefixes, and the gradient.
TEST(Gradient, OfAMapByTwoScans)
{
    const auto op = read(
        "operator f(x: f64) -> each f64 { state p: f64 = 1 lift x combine(a, b) a * b map 1 / (p + x) }");
    const auto made = gradient(op, "x");
    EXPECT_EQ(made.means, "two scans");
    EXPECT_EQ(made.operators.size(), 4u) << print(made);
    const auto first = gradient_at(op, {{"x", {1, 2}}, {"grad_result", {1, 0}}}, {0, 2});
    EXPECT_DOUBLE_EQ(first[0], -3.0 / 9) << "1 / (x0 x1 + x0) by x0";
    EXPECT_DOUBLE_EQ(first[1], -1.0 / 9);
    const auto second = gradient_at(op, {{"x", {1, 2}}, {"grad_result", {0, 1}}}, {0, 2});
    EXPECT_DOUBLE_EQ(second[0], -2.0 / 16);
    EXPECT_DOUBLE_EQ(second[1], -2.0 / 16);
}

TEST(Gradient, OfRowsIsOfRows)
{
    const auto op = read(
        "operator f(x: row f32, w: f32) -> f32 { state s: f32 = 0 lift isnan(x) ? 0 : x * w combine(a, b) a "
        "+ b }");
    const auto made = gradient(op, "x");
    EXPECT_TRUE(made.operators.back().parameters.back().row);
    EXPECT_NE(print(made).find("let of_grad_result = grad_result[segment];"), std::string::npos)
        << print(made);
    EXPECT_EQ(
        message_of<InputError>([&] { return gradient(op, "w"); }),
        "operator f has no gradient by 'w': 'w' has one number for a row of features, and gradients are "
        "made by rows");
}

TEST(Gradient, ByATableOrAScalarIsSummedOverTheSegment)
{
    const auto op = read(
        "operator f(x: f64, k: scalar f64, t: table f64) -> f64 { state s: f64 = 0 lift x * k * t[segment] "
        "combine(a, b) a + b finish s * s }");
    for (const std::string parameter : {"k", "t"}) {
        const auto made = gradient(op, parameter);
        EXPECT_EQ(made.means, "sums");
        ASSERT_EQ(made.operators.size(), 2u);
        ArraysByName arrays;
        arrays["x"] = doubles({1, 2, 3});
        arrays["k"] = doubles({2});
        arrays["t"] = doubles({1, 5});
        arrays["grad_result"] = doubles({1, 10});
        fold_few_in_turn(made.operators, arrays, std::vector<std::int64_t>{0, 2, 3});
        const auto found = arrays.at(made.result).as<double>();
        // s = (6, 30): 2 s (x0 + x1) t and 2 s x2 t by k; the same with k for t by t.
        const auto wanted = parameter == "k" ? std::vector<double>{2 * 6 * 3 * 1, 10 * 2 * 30 * 3 * 5}
                                             : std::vector<double>{2 * 6 * 3 * 2, 10 * 2 * 30 * 3 * 2};
        EXPECT_EQ(std::vector<double>(found.begin(), found.end()), wanted) << print(made);
    }
    EXPECT_EQ(gradient(standard_operator("softmax_temperature", Type::f32), "temperature").means, "totals");
}

TEST(Gradient, IsRefusedWithTheReason)
{
    const auto message = [](const std::string& op, Type type, const std::string& parameter) {
        return message_of<InputError>([&] { return gradient(standard_operator(op, type), parameter); });
    };
    EXPECT_EQ(
        message("dot", Type::f32, "z"),
        "operator dot has no gradient by 'z': it has no such parameter; its columns of floats are x, y");
    EXPECT_EQ(message("sum", Type::i32, "x"),
              "operator sum has no gradient by 'x': its type is i32, and only floats have derivatives; it "
              "has no column "
              "of floats");
    EXPECT_EQ(
        message("spmv", Type::f32, "x"),
        "operator spmv has no gradient by 'x': this is a table that is read elsewhere than at [segment], "
        "and of tables gradients are made by these");
    EXPECT_EQ(message("cross_entropy", Type::f32, "label"),
              "operator cross_entropy has no gradient by 'label': its type is i64, and only floats have "
              "derivatives; its columns of floats are x");
    EXPECT_EQ(message("count_above", Type::f32, "x"),
              "operator count_above has no gradient by 'x': it returns no floats");
    EXPECT_EQ(message("binned_sum", Type::f32, "x"),
              "operator binned_sum has no gradient by 'x': no result of floats changes with it but by steps, "
              "where it is "
              "compared or rounded");
}

TEST(Gradient, OfStepsIsKnownToBeZero)
{
    EXPECT_THROW((void)gradient(standard_operator("binned_sum", Type::f32), "x"), ZeroGradient);
    EXPECT_THROW((void)gradient(gradient(standard_operator("sum", Type::f32), "x").operators[0], "x"),
                 ZeroGradient);
}

TEST(Reduced, KeepsTheFieldsBehindOthers)
{
    const auto op = standard_operator("mean_variance", Type::f32);
    EXPECT_EQ(fields_behind(op, {"mean"}), (std::set<std::string>{"low", "mean", "n"}));
    EXPECT_EQ(fields_behind(op, {"n"}), (std::set<std::string>{"n"}));
    const auto count = check(with_fields(op, {"n"}));
    EXPECT_EQ(
        print(count).substr(print(count).find("  state")),
        "  state n: i64 = 0\n  lift 1\n  combine(a, b) a + b\n  append(a) a + 1\n  laws commutative\n}\n");
    const auto wide = in_f64(standard_operator("mean", Type::f16));
    EXPECT_EQ(wide.parameters[0].type, Type::f64);
    EXPECT_EQ(wide.state[0].type, Type::f64);
}

}  // namespace
}  // namespace segfold::test::gradient_test
