// A bound that would let a quarter of the value pass judges nothing, and the verdict says so.
#include <gtest/gtest.h>

#include <vector>

#include "dsl/text/parser.h"
#include "runtime/judge/compare.h"
#include "tests/common/small_workloads.h"

namespace segfold::unjudged_test {
namespace {

/// Mean and variance by sums of squares: of values far from zero f32 leaves the variance no digit.
Operator naive_variance()
{
    return parse_operator("naive.seg", R"(
        operator naive(x: f32) -> (mean: f32, variance: f32) {
          state { n: i64 = 0; s: f32 = 0; q: f32 = 0 }
          lift { n = 1; s = x; q = x * x }
          combine(a, b) { n = a.n + b.n; s = a.s + b.s; q = a.q + b.q }
          finish { let m = s / f32(n); mean = m; variance = q / f32(n) - m * m }
        })");
}

/// Values of variance 1, some thousand of them, around an offset; every second segment lies around 0.
Workload spread_values(std::int64_t num_segments, float offset)
{
    constexpr std::int64_t kLength = 4096;
    Array x(Type::f32, static_cast<std::size_t>(num_segments * kLength));
    for (std::int64_t i = 0; i < num_segments * kLength; ++i)
        x.as<float>()[static_cast<std::size_t>(i)] =
            (i / kLength % 2 == 0 ? offset : 0) + (i % 2 == 0 ? 1.0F : -1.0F);
    return workload_of(naive_variance(), uniform_segments(num_segments * kLength, kLength), x.copy());
}

Results results_of(float mean, const std::vector<float>& variances)
{
    Results results;
    results.push_back({"mean", Array(Type::f32, variances.size())});
    results.push_back({"variance", Array::of<float>(Type::f32, variances)});
    for (std::size_t s = 0; s < variances.size(); ++s)
        results[0].array.as<float>()[s] = s % 2 == 0 ? mean : 0;
    return results;
}

TEST(Unjudged, AValueThatTheDataDoNotDetermineIsNeitherRightNorWrong)
{
    const auto workload = spread_values(1, 30000);
    const Judge own(workload);
    EXPECT_EQ(own.reference()[1].array.as<float>()[0], 1);
    for (const float variance : {1.25F, 1.99F, 0.75F, -3.0F}) {
        const auto comparison = own.compare(results_of(30000, {variance}));
        EXPECT_TRUE(comparison.agrees()) << print(comparison);
        EXPECT_FALSE(comparison.is_judged());
        EXPECT_EQ(comparison.num_unjudged, 1);
        const auto text = print(comparison);
        EXPECT_TRUE(
            text.starts_with("segment 0 (elements 0 to 4095, length 4096) cannot be judged: variance is "))
            << text;
        EXPECT_TRUE(text.ends_with(": the data leave no digit")) << text;
        EXPECT_EQ(unsaid_in_brief(comparison), "the segment cannot be judged");
    }
    EXPECT_FALSE(own.compare(results_of(30000, {1e9F})).agrees());
    EXPECT_FALSE(own.compare(results_of(30100, {1})).agrees());
    const auto right = own.compare(results_of(30000, {1}));
    EXPECT_TRUE(right.agrees());
    EXPECT_TRUE(right.is_judged());
}

TEST(Unjudged, AValueThatTheDataDetermineIsJudged)
{
    const auto workload = spread_values(1, 3);
    const Judge judge(workload);
    EXPECT_TRUE(judge.compare(results_of(3, {1.00001F})).is_judged());
    for (const float variance : {1.008F, 1.25F, 1.99F})
        EXPECT_FALSE(judge.compare(results_of(3, {variance})).agrees()) << variance;
}

TEST(Unjudged, SegmentsAreCountedApart)
{
    const auto workload = spread_values(4, 30000);
    const Judge judge(workload);
    auto comparison = judge.compare(results_of(30000, {1.5F, 1, 2, 1}));
    EXPECT_TRUE(comparison.agrees());
    EXPECT_EQ(comparison.num_unjudged, 2);
    const auto text = print(comparison);
    EXPECT_TRUE(
        text.starts_with("2 of 4 segments agree with the reference, each within 4 ulp; 2 of 4 segments "
                         "cannot be judged, the first one is segment 0 (elements 0 to 4095, length "
                         "4096): variance is 1.5, reference says 1, bound "))
        << text;
    EXPECT_EQ(unsaid_in_brief(comparison), "2 of 4 segments cannot be judged");

    comparison = judge.compare(results_of(30000, {1.5F, 1.5F, 2, 1}));
    EXPECT_EQ(comparison.num_wrong, 1);
    EXPECT_EQ(comparison.first_wrong->segment, 1);

    comparison = judge.compare(results_of(30000, {1, 1, 1, 1}), results_of(30000, {1, 1, 2, 1}), "thrust");
    EXPECT_TRUE(comparison.agrees());
    EXPECT_EQ(comparison.num_unjudged, 1);
    EXPECT_NE(print_unjudged(comparison).find("variance is 1, thrust says 2, reference says 1"),
              std::string::npos)
        << print_unjudged(comparison);
}

/// An element that lies near its segment's mean is judged by the size of the others; a constant that hides
/// the differences leaves none of them a digit.
TEST(Unjudged, OutputsAreJudgedBesideTheLargestOfTheirSegment)
{
    const auto op = parse_operator("centre.seg", R"(
        operator centre(x: f32) -> (mean: f32, each rest: f32) {
          state { n: i64 = 0; s: f32 = 0 }
          lift { n = 1; s = x }
          combine(a, b) { n = a.n + b.n; s = a.s + b.s }
          finish { mean = s / f32(n) }
          map { rest = x - mean }
        })");
    const auto compared = [&](const std::vector<float>& x, std::size_t element, float error) {
        const auto workload = workload_of(op, whole_segments(static_cast<std::int64_t>(x.size())),
                                          Array::of<float>(Type::f32, x));
        const Judge judge(workload);
        auto results = judge.reference();
        results[1].array.as<float>()[element] += error;
        return judge.compare(results);
    };
    // The mean is 1 / 3, which f32 rounds, and the second element is close to it.
    const auto among_large = compared({-10, 0.33333334F, 10.666667F}, 1, 3e-7F);
    EXPECT_TRUE(among_large.agrees()) << print(among_large);
    EXPECT_TRUE(among_large.is_judged()) << print(among_large);
    EXPECT_FALSE(compared({-10, 0.33333334F, 10.666667F}, 1, 0.01F).agrees());
    const auto hidden = compared({1e8F, 1e8F + 8, 1e8F + 8}, 0, 4.0F);
    EXPECT_TRUE(hidden.agrees()) << print(hidden);
    EXPECT_EQ(hidden.num_unjudged, 1) << print(hidden);
    EXPECT_NE(print(hidden).find("rest of element 0 is "), std::string::npos) << print(hidden);
}

}  // namespace
}  // namespace segfold::unjudged_test
