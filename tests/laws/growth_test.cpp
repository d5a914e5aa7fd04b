// What overflow alone refutes, and when nothing overflows.
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

DataRanges between(std::int64_t low, std::int64_t high)
{
    return {{FieldValue{Type::i64, static_cast<std::uint64_t>(low)},
             FieldValue{Type::i64, static_cast<std::uint64_t>(high)}}};
}

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
    // Elements beyond 100 alone show it, and 1000 is a constant of the text.
    EXPECT_TRUE(by_overflow(of_combine("max(a, b)", "x > 1000 ? -x : abs(x / 2)", "0")).empty());
    EXPECT_EQ(by_overflow(of_combine("max(max(a, b), a + b)", "x > 1000000 ? -x : abs(x)", "0")),
              std::vector<Law>{Law::associative});
    // No search finds the one element that shows it, and nothing overflows there.
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
    // A product's growth is not known.
    EXPECT_TRUE(by_overflow(of_combine("a * b / (a * b) * a")).empty());
}

TEST(Growth, FoldsAreBoundedByElementsTimesTheLargest)
{
    const auto op = standard_operator("max_subarray", Type::i64);
    const auto highest = static_cast<std::int64_t>(highest_integer(Type::i64));
    EXPECT_TRUE(overflows_nowhere(op, between(-5, highest / 1000), 1000));
    EXPECT_FALSE(overflows_nowhere(op, between(-5, highest / 1000), 1001));
    EXPECT_FALSE(overflows_nowhere(op, between(-highest / 1000, 5), 1001));
    EXPECT_TRUE(overflows_nowhere(op, between(-highest, highest), 1));
    EXPECT_FALSE(overflows_nowhere(op, between(-highest - 1, 0), 1));
    EXPECT_FALSE(overflows_nowhere(of_combine("a + b", "x * x"), between(0, highest / 2), 1));
    EXPECT_TRUE(overflows_nowhere(of_combine("a + b", "x * x"), between(-3, 2), 1 << 30));
    EXPECT_FALSE(overflows_nowhere(of_combine("a + b + a"), between(0, 1), 4));
    EXPECT_FALSE(overflows_nowhere(of_combine("a + b + 1"), between(0, 1), 4));
    EXPECT_FALSE(overflows_nowhere(of_combine("a * b"), between(0, 1), 4));
}

}  // namespace
}  // namespace segfold::growth_test
