// Gradients beside differences: of the standard operators, of operators by lot, and of wrong ones.
#include "dsl/laws/gradient_law.h"

#include <gtest/gtest.h>

#include "dsl/printer.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/random_differentiable.h"

namespace segfold::test::gradient_law_test {
namespace {

TEST(GradientLaw, HoldsForEachStandardOperator)
{
    int num_judged = 0;
    for (const auto& known : standard_operators()) {
        if (std::ranges::find(known.types, Type::f32) == known.types.end())
            continue;
        const auto op = standard_operator(known.name, Type::f32);
        for (const auto& parameter : op.parameters) {
            try {
                (void)gradient(op, parameter.name);
            } catch (const InputError&) {
                continue;
            }
            const auto finding = judge_gradient(op, parameter.name, 20);
            EXPECT_TRUE(finding.is_right()) << print(finding, op);
            ++num_judged;
        }
    }
    EXPECT_GE(num_judged, 100);
}

TEST(GradientLaw, HoldsForOperatorsByLot)
{
    constexpr int kOperators = 500;
    std::map<std::string, int> means;
    for (std::uint32_t seed = 0; seed < kOperators; ++seed) {
        const auto op = RandomDifferentiable(seed).make();
        const auto finding = judge_gradient(op, "x", 6, seed);
        EXPECT_TRUE(finding.is_right()) << "seed " << seed << "\n" << print(finding, op);
        ++means[finding.means];
    }
    for (const auto* name : {"sums", "totals", "places", "two scans"})
        EXPECT_GE(means[name], 10) << name;
}

// Where the course changes at a constant, at a position or at NaN, only elements there show it.
TEST(GradientLaw, HoldsWhereTheCourseChangesAtAConstant)
{
    const std::string stops =
        " combine(a, b) { s = a.s + (a.stop ? 0 : b.s); stop = a.stop || b.stop } finish s }";
    const std::string resets = " combine(a, b) { s = b.r ? b.s : a.s + b.s; r = a.r || b.r } finish s }";
    const std::string state = " state { s: f64 = 0; stop: bool = false } lift ";
    const std::string reset_state = " state { s: f64 = 0; r: bool = false } lift ";
    const std::vector<std::pair<std::string, std::string>> texts = {
        {"x", "operator o(x: f64, k: i64) -> f64 {" + state + "{ s = x; stop = k > 5 }" + stops},
        {"x", "operator o(x: f64) -> f64 {" + state + "{ s = x; stop = x > 3 }" + stops},
        {"x", "operator o(x: f64) -> f64 {" + state + "{ s = isnan(x) ? 0 : x; stop = isnan(x) }" + stops},
        {"x", "operator o(x: f64, k: i64) -> f64 {" + reset_state + "{ s = x; r = k > 5 }" + resets},
        {"x", "operator o(x: f64) -> f64 {" + reset_state + "{ s = x; r = position == 7 }" + resets},
        // A large gradient of another result hides no wrong one.
        {"x",
         "operator o(x: f64) -> (s: f64, e: f64) { state { s: f64 = 0; stop: bool = false; e: f64 = 0 } "
         "lift { s = x; stop = x > 1; e = exp(13 * x) } combine(a, b) { s = a.s + (a.stop ? 0 : b.s); stop = "
         "a.stop || b.stop; e = a.e + b.e } finish { s = s; e = e } }"},
        // What is chosen is not what decides.
        {"x",
         "operator o(x: f64) -> f64 { state { best: f64 = -inf; v: f64 = 0 } lift { best = abs(x); v = x } "
         "combine(a, b) { best = max(a.best, b.best); v = a.best >= b.best ? a.v : b.v } finish v }"},
        // Derivatives of two fields are equal by chance.
        {"d",
         "operator o(x: f64, d: f64) -> (r: f64, each y: f64) { state { s: f64 = 0; g: f64 = 1 } lift { s = "
         "x; g "
         "= d } combine(a, b) { s = a.s * b.g + b.s; g = a.g * b.g } finish { r = s - g } map x * r }"},
        {"x", "operator o(x: f64) -> f64 { state s: f64 = 0 lift pow(x, 0) + x combine(a, b) a + b }"},
        // As many paths as 2^26 lead through few terms.
        {"x",
         "operator o(x: f64, y: f64) -> f64 { state s: f64 = -inf lift { let v[0] = x; for h in 0..26 { let "
         "v[h + "
         "1] = y > f64(h) ? max(v[h], y) : min(v[h], 3.0) } s = v[26] } combine(a, b) max(a, b) }"},
    };
    for (const auto& [parameter, text] : texts) {
        const auto op = parse_operator("o.seg", text);
        const auto finding = judge_gradient(op, parameter, 40);
        EXPECT_TRUE(finding.is_right()) << print(finding, op);
        EXPECT_GT(finding.num_points, 60) << text;
    }
}

/// Forty locals, each of which is `next` of the two before it, p and q.
std::string chain(const std::string& first, const std::string& second, const std::string& next)
{
    std::string text = "let v0 = " + first + "; let v1 = " + second + "; ";
    for (int i = 2; i < 40; ++i) {
        text += "let v" + std::to_string(i) + " = ";
        for (const char letter : next)
            text += letter == 'p' || letter == 'q' ? "v" + std::to_string(letter == 'p' ? i - 1 : i - 2)
                                                   : std::string(1, letter);
        text += "; ";
    }
    return text;
}

// Their terms are few, and unfolded they are more than 2^27.
TEST(GradientLaw, HoldsForLocalsThatUseOthersTwice)
{
    const std::string head = "operator o(x: f64, y: f64, k: i64, t: table f64) -> ";
    const std::string sum = " state s: f64 = 0 lift ";
    for (const std::string next :
         {"p + q", "p + p", "p - q", "0.6 * p + q * 0.3 * y", "p * q / (1.0 + p * p)", "max(p, q * y)",
          "p > y ? 0.9 * p : q + y", "abs(p - q) * 0.5", "y > 9.0 ? p : 0.0"}) {
        const auto texts = {
            head + "f64 {" + sum + "{ " + chain("x", "x * y", next) + "s = v39 } combine(a, b) a + b }",
            head + "f64 { state s: f64 = 1 lift { " + chain("x", "x * y", next) +
                "s = v39 } combine(a, b) a * b }",
            head + "f64 {" + sum + "{ " + chain("x", "x * t[k]", next) +
                "s = y > 1 ? 0 : v39 } combine(a, b) a + b }",
            head + "f64 {" + sum + "x combine(a, b) a + b finish { " +
                chain("s", "sin(s)", next == "p + q" || next == "p + p" || next == "p - q" ? next : "p + q") +
                "result = v39 } }",
            head + "(each r: f64) {" + sum + "x combine(a, b) a + b map { " + chain("x", "s", next) +
                "r = v39 } }",
            head + "(each r: f64) {" + sum + "x combine(a, b) a + b scan(g, h) { " + chain("x", "h", next) +
                "r = v39 } }"};
        for (const auto& text : texts) {
            const auto op = parse_operator("o.seg", text);
            try {
                const auto finding = judge_gradient(op, "x", 3);
                EXPECT_FALSE(finding.wrong) << print(finding, op);
            } catch (const ZeroGradient&) {  // of the last one
            }
        }
    }
}

// A read of a table that a condition guards stays behind it.
TEST(GradientLaw, GuardsOfTablesStay)
{
    const auto op = parse_operator("o.seg",
                                   "operator o(x: f64, k: i64, t: table f64) -> f64 { state s: f64 = 0 lift "
                                   "{ let w = k < 8 ? t[k] * x : 0; "
                                   "s = k < 8 ? sin(w) * exp(w) : 0 } combine(a, b) a + b }");
    const auto text = print(gradient(op, "x"));
    EXPECT_EQ(text.find("let w"), std::string::npos) << text;
    EXPECT_NE(text.find("map k < 8 ? "), std::string::npos) << text;
}

// The gradient of a result is a table that is read at [segment], so that gradients have gradients.
TEST(GradientLaw, HoldsForGradientsOfGradients)
{
    int num_judged = 0;
    for (const auto* name :
         {"norm", "log_sum_exp", "mean_variance", "weighted_mean", "share", "max", "centre"}) {
        const auto first = gradient(standard_operator(name, Type::f32), "x");
        const auto& op = first.operators.back();
        for (const auto& parameter : op.parameters) {
            try {
                (void)gradient(op, parameter.name);
            } catch (const InputError&) {
                continue;  // the gradient of a sum does not change with the element
            }
            const auto finding = judge_gradient(op, parameter.name, 20);
            EXPECT_TRUE(finding.is_right()) << print(finding, op);
            ++num_judged;
        }
    }
    EXPECT_GE(num_judged, 12);
}

// By both ways, where both serve.
TEST(GradientLaw, TwoScansServeForAllOperators)
{
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        const auto op = in_f64(RandomDifferentiable(seed).make());
        const auto scans = gradient_by_scans(op, "x");
        const auto finding = judge_gradient(op, "x", 6, seed, &scans);
        EXPECT_TRUE(finding.is_right()) << "seed " << seed << "\n" << print(finding, op);
    }
}

/// The gradient with another text in place of one that it must have.
Gradient changed(const Operator& op, const std::string& from, const std::string& to)
{
    auto made = gradient(in_f64(op), "x");
    auto text = print(made.operators.back());
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << text;
    made.operators.back() = parse_operator("changed", text.replace(at, from.size(), to));
    return made;
}

TEST(GradientLaw, FindsAWrongSignAndShowsIt)
{
    const auto op = standard_operator("log_sum_exp", Type::f32);
    const auto made = changed(op, "exp(x - greatest) / sum", "exp(greatest - x) / sum");
    const auto finding = judge_gradient(op, "x", 60, 1, &made);
    ASSERT_TRUE(finding.wrong);
    EXPECT_FALSE(finding.is_right());
    const auto text = print(finding, op);
    EXPECT_NE(text.find("gradient of log_sum_exp by x: totals; wrong: by element "), std::string::npos)
        << text;
    EXPECT_NE(text.find("gradient = sf.gradient(sf.operator(\"\"\""), std::string::npos) << text;
    EXPECT_NE(text.find("offsets=np.array([0, 2]))"), std::string::npos)
        << "the shortest segment that shows it\n"
        << text;
}

TEST(GradientLaw, FindsOtherFaults)
{
    const auto is_wrong = [](const std::string& name, const std::string& from, const std::string& to) {
        const auto op = standard_operator(name, Type::f32);
        const auto made = changed(op, from, to);
        return judge_gradient(op, "x", 20, 1, &made).wrong.has_value();
    };
    EXPECT_TRUE(is_wrong("sum", "grad_result[segment]", "-grad_result[segment]"));
    EXPECT_TRUE(is_wrong("softmax", "x - greatest[segment]) * grad_result", "x - greatest[segment])"));
    EXPECT_TRUE(is_wrong("max", "index == place", "index != place"));
    EXPECT_TRUE(is_wrong("product", "scan reverse", "scan"));
    EXPECT_TRUE(is_wrong("mean_variance", "f64(n + 1)", "f64(n)"));
}

TEST(GradientLaw, AGaugeIsTakenOnlyWhereResultsDoNotShowIt)
{
    // The greatest value and the sum of exponentials scaled by it: log_sum_exp does not change with the
    // scale.
    EXPECT_EQ(gradient(standard_operator("log_sum_exp", Type::f64), "x").means, "totals");
    EXPECT_EQ(gradient(standard_operator("softmax_normaliser", Type::f64), "x").means, "two scans");
}

TEST(SmallFold, RunsMapsScansAndEmptySegments)
{
    const auto op = parse_operator("test",
                                   "operator f(x: f64) -> (s: f64, each y: f64, each z: f64) { state s: f64 "
                                   "= 0 lift x combine(a, b) a + b "
                                   "map { y = x / s } scan reverse(later, through) { z = later } }");
    ArraysByName arrays;
    arrays["x"] = Array::of<double>(Type::f64, std::vector<double>{1, 3, 2});
    const auto found = fold_few(op, arrays, std::vector<std::int64_t>{0, 2, 2, 3});
    EXPECT_EQ(found.at("s"), (std::vector<long double>{4, 0, 2}));
    EXPECT_EQ(found.at("y"), (std::vector<long double>{0.25, 0.75, 1}));
    EXPECT_EQ(found.at("z"), (std::vector<long double>{3, 0, 0}));
}

}  // namespace
}  // namespace segfold::test::gradient_law_test
