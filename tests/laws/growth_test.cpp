// Tests which laws only overflow refutes, and when nothing overflows.
#include "dsl/laws/data/growth.h"

#include <gtest/gtest.h>

#include "dsl/laws/elements.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::growth_test {
namespace {

std::vector<Law> by_overflow(const Operator& op) { return refuted_by_overflow_alone(op, check_laws(op), {}); }

Operator of_combine(const std::string& combine, const std::string& lift = "x",
                    const std::string& identity = "")
{
    ShortForm form;
    form.combine = combine;
    form.lift = lift;
    form.identity = identity;
    form.type = Type::i64;
    return parse_short_form(form);
}

KnownValues between(WideInteger low, WideInteger high) { return {{"x", {low, high}}}; }

TEST(Growth, OverflowIsAllThatRefutesMaxSubarrayOf64Bits)
{
    const auto op = standard_operator("max_subarray", Type::i64);
    EXPECT_EQ(by_overflow(op), (std::vector<Law>{Law::associative, Law::identity}));
    EXPECT_TRUE(by_overflow(standard_operator("max_subarray", Type::i32)).empty());
}

TEST(Growth, WhatSmallElementsRefuteIsNoOverflow)
{
    EXPECT_TRUE(by_overflow(of_combine("a - b")).empty());
    EXPECT_TRUE(by_overflow(of_combine("max(a, b)", "x", "0")).empty());
    // Only elements above 100 show it. The search tries 1000, because it is a constant of the text.
    EXPECT_TRUE(by_overflow(of_combine("max(a, b)", "x > 1000 ? -x : abs(x / 2)", "0")).empty());
    EXPECT_EQ(by_overflow(of_combine("max(max(a, b), a + b)", "x > 1000000 ? -x : abs(x)", "0")),
              std::vector<Law>{Law::associative});
    // No search finds the one element that shows it, and nothing overflows for this element.
    const auto seldom = of_combine("max(a, b)", "x == 987654321 ? -7 : abs(x / 2)", "0");
    auto report = check_laws(seldom);
    for (auto& finding : report.findings)
        if (finding.law == Law::identity) {
            finding.counter_example =
                confirmed(seldom, Law::identity, {{{FieldValue{Type::i64, 987654321}}}});
            ASSERT_TRUE(finding.counter_example);
            finding.verdict = Verdict::refuted;
        }
    EXPECT_TRUE(refuted_by_overflow_alone(seldom, report, {}).empty());
    // The growth of a product is known to have no bound.
    EXPECT_TRUE(by_overflow(of_combine("a * b / (a * b) * a")).empty());
}

TEST(Growth, FoldsAreBoundedByElementsTimesTheLargest)
{
    const auto op = standard_operator("max_subarray", Type::i64);
    const auto highest = static_cast<std::int64_t>(highest_integer(Type::i64));
    const auto overflows_nowhere = [](const Operator& tried, const KnownValues& known, std::int64_t n) {
        return segfold::overflows_nowhere(tried, known, {n, n});
    };
    EXPECT_TRUE(overflows_nowhere(op, between(-5, highest / 1000), 1000));
    EXPECT_FALSE(overflows_nowhere(op, between(-5, highest / 1000), 1001));
    EXPECT_FALSE(overflows_nowhere(op, between(-highest / 1000, 5), 1002));
    EXPECT_TRUE(overflows_nowhere(op, between(-highest - 1, highest), 1));
    EXPECT_FALSE(overflows_nowhere(op, between(-highest - 1, 0), 2));
    EXPECT_FALSE(overflows_nowhere(of_combine("max(a, a + b)", "x * x"), between(0, highest / 2), 2));
    EXPECT_TRUE(overflows_nowhere(of_combine("max(a, a + b)", "x * x"), between(-3, 2), 1 << 30));
    EXPECT_FALSE(overflows_nowhere(of_combine("max(a, a + b + a)"), between(0, 1), 4));
    EXPECT_FALSE(overflows_nowhere(of_combine("max(a, a + b + 1)"), between(0, 1), 4));
    EXPECT_FALSE(overflows_nowhere(of_combine("max(a * b, 3)"), between(0, 2), 4));
    EXPECT_TRUE(overflows_nowhere(of_combine("max(a * b, 1)"), between(0, 1), 1 << 30));
}

TEST(Growth, OverflowOfWhatIsOnlyAddedAndMultipliedDoesNotMatter)
{
    const KnownValues any;
    const FoldLength many{std::int64_t{1} << 40, std::int64_t{1} << 40};
    for (const auto* combine : {"a + b", "a * 31 + b", "a * b - (a ^ b << 3)", "~a & b | -a"})
        EXPECT_TRUE(overflows_nowhere(of_combine(combine), any, many)) << combine;
    for (const auto* combine :
         {"max(a, a + b)", "(a + b) / 2", "(a + b) >> 1", "abs(a + b)", "(a + b) % 1000", "a + b > 0 ? a : b",
          "i64(f64(a + b))", "i64(popcount(a + b))"})
        EXPECT_FALSE(overflows_nowhere(of_combine(combine), any, many)) << combine;
    for (const auto* combine :
         {"(a + b) % 1000", "min(a + b, 255)", "max(a, b)", "a < b ? b : a", "a & b & 15"})
        EXPECT_TRUE(overflows_nowhere(of_combine(combine, "min(max(x, 0), 9)", "0"), any, many)) << combine;
}

Operator parsed(const std::string& state, const std::string& lift, const std::string& combine,
                const std::string& more = "")
{
    return parse_operator("f", "operator f(x: i32) -> i64 { state { " + state + " } lift { " + lift +
                                   " } combine(a, b) { " + combine + " } " + more + " finish i64(n) }");
}

/// The largest number of elements of any value in which no fold overflows, as a power of two; 63 if there is
/// no limit.
int most_elements(const Operator& op)
{
    int bits = 0;
    while (bits < 63 && overflows_nowhere(op, {}, {std::int64_t{1} << bits, std::int64_t{1} << bits}))
        ++bits;
    return bits == 63 ? bits : bits - 1;
}

TEST(Growth, CountsAreBoundedByTheNumberOfElements)
{
    for (const auto& [type, bits] :
         {std::pair{"i8", 6}, {"i16", 14}, {"i32", 30}, {"u32", 31}, {"i64", 63}}) {
        const std::string t = type;
        const auto op = parsed("n: " + t + " = 0; run: " + t + " = 0", "n = 1; run = " + t + "(x > 0)",
                               "n = a.n + b.n; run = b.run == b.n ? a.run + b.run : b.run");
        EXPECT_EQ(most_elements(op), bits) << type;
    }
}

TEST(Growth, OnlyWhatMayBeTakenCounts)
{
    const std::string sentinel = "p: i64 = highest(i64); n: i64 = 0", lifted = "p = index; n = 1";
    const auto tried = [&](const std::string& n, const std::string& state, const std::string& lift) {
        return most_elements(parsed(state, lift, "p = min(a.p, b.p); n = " + n));
    };
    // The identity is no number to count from. An operator that first tests for it does not count from it.
    EXPECT_LT(tried("a.p + 1003 == b.p ? a.n : b.n", sentinel, lifted), 1);
    EXPECT_GT(tried("a.p != highest(i64) && a.p + 1003 == b.p ? a.n : b.n", sentinel, lifted), 40);
    EXPECT_GT(tried("a.p == highest(i64) || a.p + 1003 == b.p ? a.n : b.n", sentinel, lifted), 40);
    EXPECT_GT(tried("a.n == 0 ? b.n : a.p + 1003 == b.p ? a.n + b.n : a.n", sentinel, lifted), 40);
    // Elements may also hold the value that stands for "none".
    const std::string filtered = "p = x > 0 ? index : highest(i64); n = i64(x > 0)";
    EXPECT_LT(tried("a.p + 1003 == b.p ? a.n : b.n", sentinel, filtered), 1);
    EXPECT_GT(tried("a.p < highest(i64) && a.p + 1003 == b.p ? a.n : b.n", sentinel, filtered), 40);
    // A local counts only where it is read.
    const auto op =
        parsed(sentinel, lifted,
               "let after = a.p + 1; p = min(a.p, b.p); n = a.n == 0 ? b.n : after > b.p ? a.n : b.n");
    EXPECT_GT(most_elements(op), 40);
}

TEST(Growth, OverflowOfTheIdentityAloneIsTold)
{
    const auto op = parsed("p: i16 = highest(i16); n: i64 = 0", "p = 3; n = 1",
                           "p = min(a.p, b.p); n = min(a.p + 1, 7) < 0 && b.n == 300 ? a.n : a.n + b.n",
                           "append(a) { p = min(a.p, 3); n = a.n + (a.p + 2 == 5 ? 1 : 1) }");
    const auto broken = broken_by_overflow(op, {}, {1000, 1000});
    EXPECT_TRUE(broken.by_identity);
    EXPECT_TRUE(broken.by_append_to_identity);
    EXPECT_EQ(broken.combine, Overflow::none);
    EXPECT_EQ(broken.append, Overflow::none);
}

TEST(Growth, WhatAFewElementsOverflowEverySearchHasTried)
{
    const auto overflow = [](const Operator& op, std::int64_t n) {
        return broken_by_overflow(op, {}, {n, n}).combine;
    };
    EXPECT_EQ(overflow(standard_operator("max_subarray", Type::i64), 1000), Overflow::tried);
    const auto streak = parsed("n: i16 = 0; run: i16 = 0", "n = 1; run = i16(x > 0)",
                               "n = a.n + b.n; run = b.run == b.n ? a.run + b.run : b.run");
    EXPECT_EQ(overflow(streak, 1000), Overflow::none);
    EXPECT_EQ(overflow(streak, 100000), Overflow::untried);
}

}  // namespace
}  // namespace segfold::growth_test
