// Laws that hold while nothing overflows, on data that overflow: every way to fold gives the results of
// folding from left to right and warns, or warns that it does not know the data.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "dsl/text/parser.h"
#include "runtime/data/data_ranges.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"
#include "tests/common/front_door.h"

namespace segfold::test::overflow_laws_test {
namespace {

Operator streak(const std::string& type)
{
    return parse_operator(
        "streak.seg", "operator streak(x: i32) -> " + type + " { state { n: " + type +
                          " = 0; leading: " + type + " = 0; trailing: " + type + " = 0; longest: " + type +
                          " = 0 } lift { let late = " + type +
                          "(x > 0); n = 1; leading = late; trailing = late; longest = late } "
                          "combine(a, b) { n = a.n + b.n; leading = a.leading == a.n ? a.n + "
                          "b.leading : a.leading; trailing = b.trailing == b.n ? a.trailing + b.n : "
                          "b.trailing; longest = max(max(a.longest, b.longest), a.trailing + "
                          "b.leading) } finish longest }");
}

/// The greatest sum of a contiguous part, in a type that sums may overflow.
Operator greatest_sum(const std::string& type)
{
    return parse_operator("greatest.seg",
                          "operator greatest(x: i32) -> " + type + " { state { total: " + type +
                              " = 0; best: " + type + " = 0; prefix: " + type + " = 0; suffix: " + type +
                              " = 0 } lift { let up = " + type + "(max(x & 7, 0)); total = " + type +
                              "(x & 7); best = up; prefix = up; suffix = up } combine(a, b) { total = "
                              "a.total + b.total; best = "
                              "max(max(a.best, b.best), a.suffix + b.prefix); prefix = max(a.prefix, a.total "
                              "+ b.prefix); suffix = "
                              "max(b.suffix, a.suffix + b.total) } finish best }");
}

constexpr const char* kInOrder =
    " obeys its laws while nothing overflows, and these data may; it is folded strictly "
    "from left to right";

template <class Result>
void expect_in_order(const Operator& op, const std::vector<std::int32_t>& values)
{
    auto reference = session_on("reference");
    const auto right = reference.fold(op, {values}, whole()).template values<Result>()[0];
    for (const auto* backend : {"simt", "cpu"})
        for (const auto& stage :
             {std::optional<std::string>(), std::optional<std::string>("block_per_segment")}) {
            if (stage && std::string(backend) == "cpu")
                continue;
            auto session = session_on(backend);
            FoldOptions options;
            options.check = true;
            options.plan.stage = stage;
            const auto folded = session.fold(op, {values}, whole(), options);
            EXPECT_EQ(folded.template values<Result>()[0], right) << backend;
            EXPECT_TRUE(folded.agrees());
            ASSERT_EQ(folded.warnings().size(), 1U) << backend;
            EXPECT_NE(folded.warnings()[0].find(kInOrder), std::string::npos) << folded.warnings()[0];
            EXPECT_EQ(folded.warnings()[0].find("block_per_segment, which is asked for") != std::string::npos,
                      stage.has_value());
        }
}

template <class T>
void expect_ends_at_any_place(std::initializer_list<std::size_t> counts)
{
    for (const auto count : counts)
        for (std::size_t place = 0; place < count; ++place)
            for (const T end : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
                std::vector<T> values(count, 5);
                values[place] = end;
                const T other = count == 1 ? end : T{5};
                const auto found = values_in(Array::borrow(type_of_element<T>(), values.data(), count));
                EXPECT_EQ(found, (Interval{std::min(end, other), std::max(end, other)}))
                    << name(type_of_element<T>()) << ": " << place << " of " << count;
            }
}

TEST(ValuesIn, EndsAreFoundAtAnyPlace)
{
    expect_ends_at_any_place<std::int64_t>({1, 2, 3, 4, 7});
    expect_ends_at_any_place<std::uint64_t>({1, 2, 3, 4, 7});
    expect_ends_at_any_place<int>({1, 63, 64, 65, 130});
    expect_ends_at_any_place<std::uint8_t>({1, 64, 65});
}

TEST(OverflowLaws, CountsThatOverflowAreFoldedFromLeftToRight)
{
    expect_in_order<std::int16_t>(streak("i16"), std::vector<std::int32_t>(40000, 1));
    expect_in_order<std::uint16_t>(streak("u16"), std::vector<std::int32_t>(70000, 1));
    expect_in_order<std::int16_t>(greatest_sum("i16"), std::vector<std::int32_t>(20000, 5));
}

TEST(OverflowLaws, FoldsThatCannotOverflowAreQuiet)
{
    auto session = session_on("simt");
    const std::vector<std::int32_t> ones(40000, 1), sparse(40000, 0);
    const auto quiet = [&](const Operator& op, const std::vector<std::int32_t>& values,
                           const SegmentsView& segments) {
        const auto folded = session.fold(op, {values}, segments, {.check = true});
        EXPECT_TRUE(folded.agrees());
        EXPECT_TRUE(folded.warnings().empty()) << folded.warnings()[0];
        EXPECT_TRUE(core(session)
                        .laws(borrow_workload(op, std::vector<ArrayView>{values}, segments))
                        .is_associative());
    };
    quiet(streak("i32"), ones, whole());
    quiet(streak("i16"), ones, uniform(20000));
    quiet(greatest_sum("i16"), sparse, whole());
    // Wrapped sums are right except for multiples of 2^8, and nothing compares them.
    const auto sums =
        parse_operator("s.seg",
                       "operator s(x: i32) -> (p: i8, q: u8) { state { p: i8 = 0; q: u8 = 1 } lift { p = "
                       "i8(x); q = u8(x) } combine(a, b) { p = a.p + b.p; q = a.q * b.q } }");
    quiet(sums, std::vector<std::int32_t>(40000, 77), whole());
    quiet(parse_operator("s.seg",
                         "operator s(x: i32) -> i8 { state s: i8 = 0 lift i8(x) combine(a, b) a + b }"),
          ones, whole());
}

TEST(OverflowLaws, AnIdentityThatOverflowsAloneIsLeftOut)
{
    auto session = session_on("simt");
    const auto op =
        parse_operator("q.seg",
                       "operator q(x: i32) -> i64 { state { p: i64 = highest(i64); n: i64 = 0 } lift { p = "
                       "index; n = 1 } combine(a, b) { let after = a.p + 1; p = min(a.p, b.p); n = a.n + b.n "
                       "+ (a.n == 0 && b.n == 5024 && after != 7 ? i64(1) : i64(0)) } finish n }");
    const std::vector<std::int32_t> values(20096, 1);
    const auto folded = session.fold(op, {values}, uniform(5024), {.check = true});
    EXPECT_EQ(folded.values<std::int64_t>()[0], 5024);
    EXPECT_TRUE(folded.agrees());
    ASSERT_EQ(folded.warnings().size(), 1U);
    EXPECT_EQ(folded.warnings()[0],
              "operator q runs without its identity: the identity is neutral while nothing overflows, and "
              "these data may");
}

TEST(OverflowLaws, AnAppendThatOverflowsAtTheIdentityIsNotReliedOn)
{
    auto session = session_on("simt");
    const auto op = parse_operator(
        "q.seg",
        "operator q(x: i32) -> i64 { state { first: i64 = highest(i64); s: i64 = 0 } lift { "
        "first = index; s = i64(x) } combine(a, b) { first = min(a.first, b.first); s = a.s + "
        "b.s } append(a) { first = a.first == highest(i64) ? index : a.first; s = a.s + (index "
        "== a.first + 1503 ? i64(x) * 2 : i64(x)) } finish s }");
    FoldOptions options;
    options.plan.stage = "thread_per_segment";
    const std::vector<std::int32_t> values(4096, 1);
    const auto folded = session.fold(op, {values}, uniform(2048), options);
    EXPECT_EQ(folded.values<std::int64_t>()[0], 2048);
    ASSERT_EQ(folded.warnings().size(), 1U);
    EXPECT_NE(
        folded.warnings()[0].find("has an append that is combine(a, lift) while nothing overflows, and these "
                                  "data may; combine and lift serve instead"),
        std::string::npos);
}

TEST(OverflowLaws, APlanSaysOnceThatItDoesNotKnowItsData)
{
    auto session = session_on("simt");
    const auto said = [](const Plan& plan) { return plan.warnings().size(); };
    EXPECT_EQ(said(session.plan(streak("i16"), whole(), 10000)), 0U);
    EXPECT_EQ(said(session.plan(streak("i32"), whole(), 100000)), 0U);
    EXPECT_EQ(said(session.plan(streak("i16"), uniform(100), 100000)), 0U);
    auto plan = session.plan(streak("i16"), whole(), 100000);
    ASSERT_EQ(said(plan), 1U);
    EXPECT_NE(
        plan.warnings()[0].find("obeys its laws while nothing overflows, and a plan does not know its data"),
        std::string::npos);
    PlanOptions vouched;
    vouched.assumes_no_overflow = true;
    EXPECT_EQ(said(session.plan(streak("i16"), whole(), 100000, vouched)), 0U);
    auto grown = session.plan(streak("i16"), whole(), 10000);
    grown.resize(whole(), 100000);
    grown.resize(whole(), 200000);
    EXPECT_EQ(said(grown), 1U);
}

TEST(OverflowLaws, AStreamSaysItWhereItsElementsMayOverflow)
{
    auto session = session_on("cpu");
    const std::vector<std::int32_t> ones(100000, 1), sparse(100000, 0);
    const auto warnings = [&](const Operator& op, const std::vector<std::int32_t>& values,
                              const StreamSegments& segments) {
        FoldStreamOptions options;
        options.memory_bytes = 1 << 16;
        return fold_stream(session, op, {values}, segments, options, [](const Folded&, std::int64_t) {})
            .warnings;
    };
    EXPECT_TRUE(warnings(streak("i32"), ones, whole()).empty());
    EXPECT_TRUE(warnings(streak("i16"), ones, uniform(10000)).empty());
    EXPECT_TRUE(warnings(greatest_sum("i16"), sparse, whole()).empty());
    for (const auto& told :
         {warnings(streak("i16"), ones, whole()), warnings(greatest_sum("i16"), ones, whole())}) {
        ASSERT_EQ(told.size(), 1U);
        EXPECT_NE(told[0].find("and a stream does not know its data"), std::string::npos) << told[0];
    }
}

}  // namespace
}  // namespace segfold::test::overflow_laws_test
