// The law checker refutes what it must, with a small counter-example, and never a law that holds.
#include "dsl/laws/laws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/cpu_time.h"

namespace segfold::laws_test {
namespace {

/// Enough time for every case, so that the numbers in messages are the same on every machine.
constexpr LawOptions kPatient{20000, 600, 1};

Operator short_form(const std::string& combine, Type type, const std::string& identity = {},
                    bool commutative = false)
{
    ShortForm form;
    form.combine = combine;
    form.type = type;
    form.identity = identity;
    form.commutative = commutative;
    return parse_short_form(form);
}

/// The line printed about one law after a patient search.
std::string report(const Operator& op, Law law)
{
    const auto found = check_laws(op, kPatient);
    return found.find(law) ? print(*found.find(law), op) : "not claimed";
}

void expect_holds(const Operator& op, const LawOptions& options)
{
    const auto found = check_laws(op, options);
    EXPECT_FALSE(found.any_refuted()) << op.name << " of " << name(op.state[0].type) << "\n"
                                      << print(found, op);
    for (const auto& finding : found.findings)
        EXPECT_GT(finding.cases, 0) << op.name << ": " << name(finding.law);
}

TEST(Laws, RefutesSubtraction)
{
    EXPECT_EQ(report(short_form("a - b", Type::i32), Law::associative),
              "combine is not associative:\n"
              "    a = 0, b = 0, c = 1\n"
              "    combine(combine(a, b), c) = -1\n"
              "    combine(a, combine(b, c)) = 1");
    EXPECT_EQ(report(short_form("a - b", Type::f32), Law::associative),
              "combine is not associative:\n"
              "    a = 0.0, b = 0.0, c = 1.0\n"
              "    combine(combine(a, b), c) = -1.0\n"
              "    combine(a, combine(b, c)) = 1.0");
}

TEST(Laws, RefutesAveragesOfAverages)
{
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
        EXPECT_EQ(report(short_form("(a + b) / 2.0", type), Law::associative),
                  "combine is not associative:\n"
                  "    a = 1.0, b = 0.0, c = 0.0\n"
                  "    combine(combine(a, b), c) = 0.25\n"
                  "    combine(a, combine(b, c)) = 0.5");
}

TEST(Laws, RefutesAnIdentityThatIsNone)
{
    EXPECT_EQ(report(short_form("a + b", Type::i32, "1"), Law::identity),
              "the identity is not neutral:\n"
              "    identity = 1\n"
              "    combine(identity, a) = 1\n"
              "    a = 0");
    EXPECT_EQ(report(short_form("a", Type::i32, "0"), Law::identity),
              "the identity is not neutral:\n"
              "    identity = 0\n"
              "    combine(identity, a) = 0\n"
              "    a = 1");
    EXPECT_EQ(report(short_form("b", Type::i32, "0"), Law::identity),
              "the identity is not neutral:\n"
              "    identity = 0\n"
              "    combine(a, identity) = 0\n"
              "    a = 1");
}

TEST(Laws, RefutesDeclaredCommutativity)
{
    const auto first = short_form("a != 0 ? a : b", Type::i32, "0", true);
    EXPECT_EQ(report(first, Law::commutative),
              "combine is not commutative:\n"
              "    a = -1, b = 1\n"
              "    combine(a, b) = -1\n"
              "    combine(b, a) = 1");
    EXPECT_EQ(
        report(first, Law::associative),
        "associative: holds for all 16777216 triples of its 8-bit version, and for 20000 triples of i32");

    auto affine = standard_operator("affine_f32");
    affine.laws.commutative = true;
    EXPECT_EQ(report(affine, Law::commutative),
              "combine is not commutative:\n"
              "    a = {scale = 0.0, shift = 1.0}, b = {scale = 0.0, shift = 0.0}\n"
              "    combine(a, b) = {scale = 0.0, shift = 0.0}\n"
              "    combine(b, a) = {scale = 0.0, shift = 1.0}");

    auto trace = standard_operator("trace_u64");
    trace.laws.commutative = true;
    const auto found = check_laws(trace, kPatient);
    EXPECT_FALSE(found.refuted(Law::associative));
    EXPECT_TRUE(found.refuted(Law::commutative));
}

TEST(Laws, RefutesDeclaredIdempotence)
{
    auto sum = standard_operator("sum_i32");
    sum.laws.idempotent = true;
    EXPECT_EQ(report(sum, Law::idempotent),
              "combine is not idempotent:\n"
              "    combine(a, a) = 2\n"
              "    a = 1");
    auto moments = standard_operator("mean_variance_f32");
    moments.laws.idempotent = true;
    EXPECT_EQ(report(moments, Law::idempotent),
              "combine is not idempotent:\n"
              "    combine(a, a) = {n = 2, mean = 0.0, low = 0.0, m2 = 0.0}\n"
              "    a = {n = 1, mean = 0.0, low = 0.0, m2 = 0.0}, of x = 0.0");
}

TEST(Laws, RefutesSaturationAtTheEndsOfTheType)
{
    const auto op = short_form(
        "a > 0 && b > highest(i32) - a ? highest(i32) : a < 0 && b < lowest(i32) - a ? lowest(i32) : a + b",
        Type::i32, "0", true);
    EXPECT_EQ(report(op, Law::associative),
              "combine is not associative:\n"
              "    a = -2147483648, b = -1, c = 1\n"
              "    combine(combine(a, b), c) = -2147483647\n"
              "    combine(a, combine(b, c)) = -2147483648\n"
              "    (not refuted by 2000 triples of small integers, 100 at most)");
    EXPECT_EQ(report(op, Law::identity),
              "identity: holds for all 256 states of its 8-bit version, and for 200 states of i32");
}

TEST(Laws, RefutesComparisonsThatForgetNan)
{
    const auto found = check_laws(short_form("a < b ? a : b", Type::f32), kPatient);
    ASSERT_TRUE(found.refuted(Law::associative));
    const auto& example = *found.find(Law::associative)->counter_example;
    ASSERT_EQ(example.states.size(), 3U);
    EXPECT_TRUE(std::isnan(example.states[1].fields[0].real));
    EXPECT_NE(example.left[0].real, example.right[0].real);
    EXPECT_EQ(example.left_side, "combine(combine(a, b), c)");
    EXPECT_EQ(example.right_side, "combine(a, combine(b, c))");
}

TEST(Laws, RefutesWhatOnlyRareValuesBreak)
{
    // The values lie in the middle of the type. The search takes them from the operator's text.
    EXPECT_EQ(report(short_form("a == 77 && b == 33 ? 5 : a ^ b", Type::i32), Law::associative),
              "combine is not associative:\n"
              "    a = 77, b = 32, c = 1\n"
              "    combine(combine(a, b), c) = 108\n"
              "    combine(a, combine(b, c)) = 5");
    EXPECT_EQ(report(short_form("a && !b", Type::boolean), Law::associative),
              "combine is not associative:\n"
              "    a = true, b = false, c = true\n"
              "    combine(combine(a, b), c) = false\n"
              "    combine(a, combine(b, c)) = true");
    EXPECT_TRUE(
        check_laws(short_form("min(a + b, 1e30)", Type::f32, "0"), kPatient).refuted(Law::associative));
    EXPECT_TRUE(check_laws(short_form("a * b / (a + b)", Type::f64), kPatient).refuted(Law::associative));
}

TEST(Laws, SaysOfWhichElementsAStateIsMade)
{
    const auto op = parse_operator("gap.seg",
                                   "operator gap(x: i64, weight: i64) -> (total: i64, n: i64) {\n"
                                   "  state { total: i64; n: i64 }\n"
                                   "  lift { total = x * weight; n = 1 }\n"
                                   "  combine(a, b) { total = a.total - b.total; n = a.n + b.n }\n"
                                   "}\n");
    EXPECT_EQ(report(op, Law::associative),
              "combine is not associative:\n"
              "    a = {total = 0, n = 1}, of (x = 0, weight = 0)\n"
              "    b = {total = 0, n = 1}, of (x = 0, weight = 0)\n"
              "    c = {total = 1, n = 1}, of (x = 1, weight = 1)\n"
              "    combine(combine(a, b), c) = {total = -1, n = 3}\n"
              "    combine(a, combine(b, c)) = {total = 1, n = 3}");
}

TEST(Laws, KeepsEarlierElementsAtLowerPlaces)
{
    // Commutative only because places tell equal values apart; associative only in order.
    const auto op = parse_operator("neighbours.seg",
                                   "operator neighbours(x: i32) -> (first: i64, last: i64, ordered: bool) {\n"
                                   "  state { first: i64; last: i64; ordered: bool }\n"
                                   "  lift { first = index; last = position; ordered = segment != 0 }\n"
                                   "  combine(a, b) {\n"
                                   "    first = a.first; last = b.last;\n"
                                   "    ordered = a.ordered && b.ordered && a.last + 1 == b.first - 10\n"
                                   "  }\n"
                                   "}\n");
    EXPECT_EQ(report(op, Law::associative), "associative: not refuted by 20000 triples");
    auto lowest =
        parse_operator("lowest.seg",
                       "operator lowest(x: i32) -> (x: i32, place: i64) {\n"
                       "  state { x: i32; place: i64 }\n"
                       "  lift { x = x; place = index }\n"
                       "  combine(a, b) { x = min(a.x, b.x); place = a.x <= b.x ? a.place : b.place }\n"
                       "  laws commutative\n"
                       "}\n");
    EXPECT_EQ(report(lowest, Law::associative), "associative: not refuted by 20000 triples");
    EXPECT_EQ(report(lowest, Law::commutative),
              "combine is not commutative:\n"
              "    a = {x = 0, place = 10}, of x = 0\n"
              "    b = {x = 0, place = 11}, of x = 0\n"
              "    combine(a, b) = {x = 0, place = 10}\n"
              "    combine(b, a) = {x = 0, place = 11}");
}

TEST(Laws, HoldsForEveryStandardOperator)
{
    // 64-bit elements wrap in the totals of max_subarray, so that the order of its sums matters.
    for (const auto& standard : standard_operators())
        for (const Type type : standard.types)
            if (standard.name != "max_subarray" || (type != Type::i64 && type != Type::u64))
                expect_holds(standard_operator(standard.name, type), {4000, 0.02, 1});
    EXPECT_TRUE(check_laws(standard_operator("max_subarray_i64")).refuted(Law::associative));
}

TEST(Laws, HoldsForSumsOfEveryInteger)
{
    for (const Type type : kTypes)
        if (is_integer(type))
            expect_holds(short_form("a + b", type, "0", true), {4000, 0.02, 1});
}

TEST(Laws, TriesAllStatesOfSmallTypes)
{
    const auto sum = short_form("a + b", Type::i8, "0", true);
    EXPECT_EQ(print(check_laws(sum, kPatient), sum),
              "associative: holds for all 16777216 triples of i8\n"
              "identity: holds for all 256 states of i8\n"
              "commutative: holds for all 65536 pairs of i8\n");
    EXPECT_EQ(report(short_form("a == b", Type::boolean), Law::associative),
              "associative: holds for all 8 triples of bool");
    // Two bools have four states. A literal that does not fit 8 bits keeps an operator from being narrowed.
    const auto pair = parse_operator("pair.seg",
                                     "operator pair(x: bool) -> (p: bool, q: bool) {\n"
                                     "  state { p: bool; q: bool }\n"
                                     "  lift { p = x; q = !x }\n"
                                     "  combine(a, b) { p = a.p; q = b.q }\n"
                                     "}\n");
    EXPECT_EQ(report(pair, Law::associative), "associative: holds for all 64 triples");
    EXPECT_EQ(report(short_form("a ^ b ^ 1000", Type::i32), Law::associative),
              "associative: not refuted by 20000 triples of i32");
}

TEST(Laws, CountsRoundingAsSuch)
{
    const auto sum = standard_operator("sum_f32");
    const auto found = check_laws(sum, kPatient);
    const auto* associative = found.find(Law::associative);
    ASSERT_NE(associative, nullptr);
    EXPECT_EQ(associative->verdict, Verdict::holds_up_to_rounding);
    EXPECT_GT(associative->spread, 1e-8);
    EXPECT_LT(associative->spread, 1e-6);
    EXPECT_EQ(print(*found.find(Law::commutative), sum), "commutative: not refuted by 20000 pairs of f32");
    // Differences are far larger than a rounding. Only wide precision tells them from a broken law.
    EXPECT_FALSE(
        check_laws(short_form("log(exp(a) + exp(b))", Type::f32, "-inf", true), kPatient).any_refuted());
    EXPECT_FALSE(check_laws(short_form("a + b + a * b", Type::f32, "0", true), kPatient).any_refuted());
}

TEST(Laws, LetsInfiniteElementsBecomeNan)
{
    EXPECT_EQ(report(standard_operator("affine_f64"), Law::identity),
              "identity: not refuted by 200 states; where values are not finite, one side alone may be NaN");
}

TEST(Laws, RefutesAnIdentityThatMakesNan)
{
    // The textbook online softmax: single elements obey the law, two identities do not.
    const auto softmax = parse_operator("softmax.seg",
                                        "operator softmax(x: f32) -> (m: f32, d: f32) {\n"
                                        "  state { m: f32 = -inf; d: f32 = 0 }\n"
                                        "  lift { m = x; d = 1 }\n"
                                        "  combine(a, b) {\n"
                                        "    let top = max(a.m, b.m);\n"
                                        "    m = top;\n"
                                        "    d = a.d * exp(a.m - top) + b.d * exp(b.m - top)\n"
                                        "  }\n"
                                        "}\n");
    EXPECT_EQ(report(softmax, Law::identity),
              "the identity is not neutral:\n"
              "    identity = {m = -inf, d = 0.0}\n"
              "    combine(identity, identity) = {m = -inf, d = nan}");
    EXPECT_TRUE(check_laws(softmax, kQuickLawOptions).refuted(Law::identity));
    EXPECT_FALSE(check_laws(softmax, kPatient).refuted(Law::associative));
    // A state that is not finite does not excuse a difference if its element is finite.
    const auto reciprocal = parse_operator("reciprocal.seg",
                                           "operator reciprocal(x: f64) -> f64 {\n"
                                           "  state { scale: f64 = 1; shift: f64 = 0 }\n"
                                           "  lift { scale = 1.0 / x; shift = 1 }\n"
                                           "  combine(a, b) {\n"
                                           "    scale = a.scale * b.scale;\n"
                                           "    shift = b.scale * a.shift + b.shift\n"
                                           "  }\n"
                                           "  finish scale + shift\n"
                                           "}\n");
    EXPECT_EQ(report(reciprocal, Law::identity),
              "the identity is not neutral:\n"
              "    identity = {scale = 1.0, shift = 0.0}\n"
              "    combine(identity, a) = {scale = inf, shift = nan}\n"
              "    a = {scale = inf, shift = 1.0}, of x = 0.0");
}

TEST(Laws, ReadsTables)
{
    const auto text = [](const std::string& index) {
        return "operator spmv(value: f32, column: i32, x: table f32) -> f32 {\n"
               "  state sum: f32 = 0\n"
               "  lift value * x[" +
               index +
               "]\n"
               "  combine(a, b) a + b\n"
               "}\n";
    };
    expect_holds(parse_operator("spmv.seg", text("column")), kPatient);
    EXPECT_EQ(report(parse_operator("spmv.seg", text("column - 100")), Law::associative),
              "associative: not tried, because no element could be lifted");
}

TEST(Laws, SaysWhatAStageMayRelyOn)
{
    const auto sum = short_form("a + b", Type::i32, "1", true);
    const auto found = check_laws(sum, kPatient);
    EXPECT_TRUE(law_usable(found, Law::associative, sum));
    EXPECT_FALSE(law_usable(found, Law::identity, sum));
    EXPECT_TRUE(law_usable(found, Law::commutative, sum));
    EXPECT_FALSE(law_usable(found, Law::idempotent, sum));
    const auto first = standard_operator("keep_first_i32");
    EXPECT_FALSE(law_usable(check_laws(first, kPatient), Law::identity, first));
    EXPECT_FALSE(law_usable(check_laws(first, kPatient), Law::commutative, first));
    EXPECT_TRUE(law_usable(check_laws(first, kPatient), Law::idempotent, first));
}

TEST(Laws, IsQuickEnoughBeforeEveryEmit)
{
    // Tries all cases, however long other processes keep the processor.
    static constexpr LawOptions kCases{kQuickLawOptions.most_cases, 600, kQuickLawOptions.seed};
    const double seconds = test::cpu_seconds_of([] {
        EXPECT_TRUE(check_laws(short_form("a - b", Type::i32), kCases).refuted(Law::associative));
        EXPECT_TRUE(check_laws(short_form("a + b", Type::f32, "1"), kCases).refuted(Law::identity));
        EXPECT_TRUE(check_laws(short_form("a", Type::u8, "", true), kCases).refuted(Law::commutative));
        EXPECT_FALSE(check_laws(standard_operator("mean_variance"), kCases).any_refuted());
    });
    EXPECT_LT(seconds, 1.0);
}

TEST(Laws, FindsTheSameForTheSameSeed)
{
    const auto op = short_form("a - b * 3", Type::f64, "0", true);
    EXPECT_EQ(print(check_laws(op, kPatient), op), print(check_laws(op, kPatient), op));
    for (std::uint64_t seed = 2; seed < 12; ++seed)
        EXPECT_TRUE(check_laws(op, {2000, 600, seed}).refuted(Law::associative)) << seed;
}

TEST(FieldValue, PrintsTheShortestLiteral)
{
    const auto real = [](Type type, double value) { return print(FieldValue{type, 0, value}); };
    EXPECT_EQ(real(Type::f64, 0.1), "0.1");
    EXPECT_EQ(real(Type::f32, 0.1F), "0.1");
    EXPECT_EQ(real(Type::f16, 0x1.998p-4), "0.1");
    EXPECT_EQ(real(Type::bf16, 0x1.9ap-4), "0.1");
    EXPECT_EQ(real(Type::f16, 65504), "65504.0");
    EXPECT_EQ(real(Type::f32, -0.0), "-0.0");
    EXPECT_EQ(real(Type::f32, -std::numeric_limits<double>::infinity()), "-inf");
    EXPECT_EQ(real(Type::f32, -std::nan("")), "nan");
    EXPECT_EQ(print(FieldValue{Type::i8, ~std::uint64_t{0}, 0}), "-1");
    EXPECT_EQ(print(FieldValue{Type::u64, ~std::uint64_t{0}, 0}), "18446744073709551615");
    EXPECT_EQ(print(FieldValue{Type::boolean, 1, 0}), "true");
}

/// max(x, y) is low, or NaN, only if both are. Even a short search tries such elements.
TEST(Laws, AShortSearchTriesElementsWhoseColumnsAreAlike)
{
    const auto op = [](const std::string& columns, const std::string& type, const std::string& identity,
                       const std::string& lift) {
        return parse_operator("peak.seg", "operator peak(" + columns + ") -> " + type +
                                              " { state v: " + type + " = " + identity + "  lift " + lift +
                                              "  combine(a, b) max(a, b) }");
    };
    const auto is_refuted = [](const Operator& tried) {
        return check_laws(tried, {kQuickLawOptions.most_cases, 600, 1}).refuted(Law::identity);
    };
    const std::string three = "max(x, max(y, z))";
    EXPECT_TRUE(is_refuted(op("x: i32, y: i32, z: i32", "i32", "-1000000", three)));
    EXPECT_TRUE(is_refuted(op("x: f32, y: f32", "f32", "-inf", "max(x, y)")));
    EXPECT_TRUE(is_refuted(op("x: f64, y: f64, z: f64", "f64", "-inf", three)));
    EXPECT_TRUE(is_refuted(op("x: f64, y: f64", "f64", "lowest(f64)", "max(x, y)")));
    EXPECT_TRUE(is_refuted(op("x: f32, y: f64", "f64", "lowest(f64)", "max(f64(x), y)")));
    EXPECT_FALSE(is_refuted(op("x: i32, y: i32, z: i32", "i32", "lowest(i32)", three)));
    EXPECT_FALSE(is_refuted(op("x: f32, y: f32", "f32", "-inf", "isnan(max(x, y)) ? 0.0 : max(x, y)")));
}

}  // namespace
}  // namespace segfold::laws_test
