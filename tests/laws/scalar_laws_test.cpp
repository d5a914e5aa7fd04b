// Scalars and tables in the search for counter-examples: they hide no elements, and take many values.
#include <gtest/gtest.h>

#include "dsl/evaluation/table_reads.h"
#include "dsl/laws/elements.h"
#include "dsl/laws/laws.h"
#include "dsl/text/parser.h"

namespace segfold::scalar_laws_test {
namespace {

constexpr LawOptions kPatient{20000, 600, 1};

std::string report(const std::string& text, Law law, const LawOptions& options = kPatient)
{
    const auto op = parse_operator("mine", text);
    const auto found = check_laws(op, options);
    return found.find(law) ? print(*found.find(law), op) : "not claimed";
}

bool is_refuted(const std::string& text, Law law, const LawOptions& options = kPatient)
{
    return check_laws(parse_operator("mine", text), options).refuted(law);
}

TEST(ScalarLaws, ElementsMayBeNegativeBesideAScalarThatNothingReads)
{
    constexpr auto kText =
        "operator mine(x: i32, unused: scalar i32) -> i32 { state t: i32 = 0  lift x  "
        "combine(a, b) max(a, b)  laws commutative }";
    EXPECT_EQ(report(kText, Law::identity),
              "the identity is not neutral:\n"
              "    identity = 0\n"
              "    combine(identity, a) = 0\n"
              "    a = -1");
    for (const std::string type : {"i8", "i16", "i64", "f32"})
        EXPECT_TRUE(is_refuted("operator mine(x: " + type + ", k: scalar " + type + ") -> " + type +
                                   " { state t: " + type + " = 0  lift x  combine(a, b) max(a, b) }",
                               Law::identity, kQuickLawOptions))
            << type;
    EXPECT_TRUE(
        is_refuted("operator mine(x: u32, k: scalar u32) -> u32 { state t: u32 = 0  lift x  "
                   "combine(a, b) a > 0xf0000000 && b == 1 ? 0 : a | b }",
                   Law::associative));
    EXPECT_TRUE(
        is_refuted("operator mine(x: i32, lo: scalar i32) -> i32 { state t: i32 = 0  lift x  "
                   "combine(a, b) max(a + b, 0) }",
                   Law::associative, kQuickLawOptions));
}

TEST(ScalarLaws, ElementsMayBeNegativeBesideATableThatTheyDoNotRead)
{
    EXPECT_TRUE(
        is_refuted("operator mine(x: i32, c: i32, w: table i32) -> i32 { state t: i32 = 0  "
                   "lift x + 0 * w[c]  combine(a, b) max(a, b) }",
                   Law::identity, kQuickLawOptions));
}

TEST(ScalarLaws, ACounterExampleSaysThatTablesAreMadeUp)
{
    const auto text = [](const std::string& kind, const std::string& entry) {
        return report("operator mine(c: i32, w: " + kind + ") -> i32 { state t: i32 = 0  lift " + entry +
                          "  combine(a, b) max(a, b) }",
                      Law::identity);
    };
    EXPECT_NE(text("table i32", "w[c]").find("with entries of 'w' that were made up; laws hold for any"),
              std::string::npos)
        << text("table i32", "w[c]");
    EXPECT_EQ(text("scalar i32", "w * c").find("made up"), std::string::npos);
}

TEST(ScalarLaws, AWrongAppendIsFoundBesideAScalar)
{
    EXPECT_TRUE(
        is_refuted("operator mine(x: i32, k: scalar i32) -> i64 { state s: i64 = 0  "
                   "lift i64(x) * i64(k)  combine(a, b) a + b  "
                   "append(a) a + i64(abs(x)) * i64(k)  laws commutative }",
                   Law::append));
}

TEST(ScalarLaws, AFalseCommutativeLawIsFoundBesideAScalar)
{
    EXPECT_TRUE(
        is_refuted("operator mine(x: i32, k: scalar i32) -> i32 { state v: i32 = highest(i32)  "
                   "lift x / k  combine(a, b) b == highest(i32) ? a : b < 0 ? b : a < 0 ? a : "
                   "min(a, b)  laws commutative }",
                   Law::commutative));
}

constexpr auto kHighestOfScalars =
    "operator mine(x: i32, tol: scalar i32) -> i32 { state { n: i32 = 0; t: i32 = 0 }  "
    "lift { n = 1; t = tol }  combine(a, b) { n = a.n + b.n; t = max(a.t, b.t) }  finish t }";

TEST(ScalarLaws, LawsThatHangOnAScalarsSignAreRefutedWithItsValue)
{
    EXPECT_EQ(report(kHighestOfScalars, Law::identity),
              "the identity is not neutral with tol = -1:\n"
              "    identity = {n = 0, t = 0}\n"
              "    combine(identity, a) = {n = 1, t = 0}\n"
              "    a = {n = 1, t = -1}, of x = 0");
    EXPECT_TRUE(is_refuted(kHighestOfScalars, Law::identity, kQuickLawOptions));
}

TEST(ScalarLaws, ScalarsMayDiffer)
{
    EXPECT_TRUE(
        is_refuted("operator mine(x: i32, low: scalar i32, high: scalar i32) -> i32 { "
                   "state t: i32 = 0  lift low > high ? -1 : 1  combine(a, b) max(a, b) }",
                   Law::identity));
}

/// A remembered counter-example holds only elements. Its scalars are found again, whatever the seed of the
/// search was.
TEST(ScalarLaws, CounterExamplesOfAnySeedAreConfirmed)
{
    const auto op = parse_operator("mine",
                                   "operator mine(x: i32, k: scalar i32) -> i32 { state t: i32 = 0  "
                                   "lift k > 100 ? -1 : abs(x)  combine(a, b) max(a, b) }");
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
        const auto found = check_laws(op, {20000, 600, seed});
        ASSERT_TRUE(found.refuted(Law::identity)) << seed;
        const auto& example = *found.find(Law::identity)->counter_example;
        std::vector<std::vector<std::vector<FieldValue>>> states;
        for (const auto& state : example.states)
            states.push_back(state.elements);
        const auto again = confirmed(op, Law::identity, states);
        ASSERT_TRUE(again) << seed;
        EXPECT_EQ(again->text, example.text) << seed;
        const ScalarValues other = {FieldValue{Type::i32, 7}};
        EXPECT_FALSE(confirmed(op, Law::identity, states, &other)) << seed;
    }
}

TEST(ScalarLaws, KnownScalarsAloneAreTried)
{
    for (const std::int64_t value : {5, 0, -5}) {
        const ScalarValues scalars = {FieldValue{Type::i32, static_cast<std::uint64_t>(value)}};
        LawOptions options = kPatient;
        options.scalars = &scalars;
        EXPECT_EQ(is_refuted(kHighestOfScalars, Law::identity, options), value < 0) << value;
    }
}

TEST(ScalarLaws, AKnownScalarKeepsItsValueWhileOthersVary)
{
    const auto op = parse_operator("mine",
                                   "operator mine(x: i32, low: scalar i32, high: scalar i32) -> i32 { "
                                   "state t: i32 = 0  lift low > high ? -1 : 1  combine(a, b) max(a, b) }");
    const auto identity = [&](const ScalarValues& scalars) {
        LawOptions options = kPatient;
        options.scalars = &scalars;
        return *check_laws(op, options).find(Law::identity);
    };
    const FieldValue lowest{Type::i32, lowest_integer(Type::i32)}, five{Type::i32, 5};
    const auto refuted = identity({five, std::nullopt});
    ASSERT_EQ(refuted.verdict, Verdict::refuted);
    const auto& scalars = refuted.counter_example->scalars;
    ASSERT_EQ(scalars.size(), 2U);
    EXPECT_EQ(scalars[0].first + print(scalars[0].second), "low5");
    EXPECT_LT(static_cast<std::int64_t>(scalars[1].second.bits), 5);
    EXPECT_EQ(identity({std::nullopt, five}).verdict, Verdict::refuted);
    EXPECT_NE(identity({lowest, std::nullopt}).verdict, Verdict::refuted) << "no high is below it";
    EXPECT_NE(identity({five, five}).verdict, Verdict::refuted);
}

TEST(ScalarLaws, WhatHoldsForEveryScalarIsNotRefuted)
{
    for (const std::string type : {"i32", "u16", "f32", "f64"}) {
        const auto op = parse_operator("mine", "operator mine(x: " + type + ", k: scalar " + type +
                                                   ", c: i32, w: table " + type + ") -> " + type +
                                                   " { state s: " + type + " = 0  lift x * k + w[c]  " +
                                                   "combine(a, b) a + b  laws commutative }");
        EXPECT_FALSE(check_laws(op, kPatient).any_refuted()) << type << print(check_laws(op, kPatient), op);
    }
}

TEST(ColumnsOfPlaces, AreThoseThatIndicesDependOn)
{
    const auto places = [](const std::string& parameters, const std::string& lift) {
        return columns_of_places(parse_operator("mine", "operator mine(" + parameters +
                                                            ") -> i32 { state s: i32 = 0  lift " + lift +
                                                            "  combine(a, b) a + b }"));
    };
    using Places = std::vector<bool>;
    EXPECT_EQ(places("x: i32, k: scalar i32", "x * k"), Places{false});
    EXPECT_EQ(places("x: i32, c: i32, w: table i32", "x * w[c]"), (Places{false, true}));
    EXPECT_EQ(places("x: i32, c: i32, w: table i32", "{ let at = c + 1; s = x * w[at] }"),
              (Places{false, true}));
    EXPECT_EQ(places("w: table i32, v: table i32, c: i32, x: i32", "x * w[v[c]]"), (Places{true, false}));
    EXPECT_EQ(places("c: i32, w: table i32, k: scalar i32", "w[k] + c"), Places{false});
}

}  // namespace
}  // namespace segfold::scalar_laws_test
