// Standard operators over magnitudes whose squares, products or sums leave the range of the type.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "dsl/half.h"
#include "runtime/judge/reference.h"
#include "runtime/session/borrowed.h"
#include "segfold/segfold.h"
#include "tests/cli/cli_program.h"

namespace segfold::standard_range_test {
namespace {

using Row = std::vector<double>;

double value_of(const Array& array, std::size_t at)
{
    switch (array.type()) {
        case Type::f16: return f16_to_f32(array.as<std::uint16_t>()[at]);
        case Type::f32: return array.as<float>()[at];
        default: return array.as<double>()[at];
    }
}

/// The first result of one segment, or the first output if there is no result. Every operation rounds.
template <class T>
Row fold(const std::string& op, const std::vector<std::vector<T>>& columns, std::size_t result = 0)
{
    const std::vector<ArrayView> inputs(columns.begin(), columns.end());
    const std::vector<std::int64_t> ends{0, static_cast<std::int64_t>(columns[0].size())};
    const auto typed = standard_operator(op, type_of_element<T>());
    const auto results =
        reduce_sequentially(borrow_workload(typed, inputs, offsets(ends)), Precision::working);
    const auto& array = results.at(result).array;
    Row row;
    for (std::size_t i = 0; i < array.length(); ++i)
        row.push_back(value_of(array, i));
    return row;
}

template <class T>
void expect_near(const std::string& op, const std::vector<std::vector<T>>& columns, const Row& wanted,
                 std::size_t result = 0)
{
    using Limits = std::numeric_limits<T>;
    const Row found = fold(op, columns, result);
    ASSERT_EQ(found.size(), wanted.size()) << op;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(found[i], wanted[i],
                    8 * Limits::epsilon() * std::abs(wanted[i]) + double{Limits::denorm_min()})
            << op << " of " << testing::PrintToString(columns) << ", " << i;
}

template <class T>
void expect_nan(const std::string& op, const std::vector<std::vector<T>>& columns, std::size_t result = 0)
{
    for (const double value : fold(op, columns, result))
        EXPECT_TRUE(std::isnan(value)) << op << " of " << testing::PrintToString(columns) << ": " << value;
}

TEST(StandardRange, NormalisedElementsAreRightOrNan)
{
    for (const float by : {1.0F, 1e10F, 1e18F, 1e-10F, 1e-18F})
        expect_near<float>("normalise", {{3 * by, 0, -4 * by}}, {0.6, 0, -0.8});
    expect_near<double>("normalise", {{3e150, 4e150}}, {0.6, 0.8});
    expect_near<float>("normalise", {{1, 1e-30F}}, {1, double{1e-30F}});
    for (const float by : {1e20F, 1e37F, 1e-21F, 1e-30F, 1e-40F})
        expect_nan<float>("normalise", {{3 * by, 4 * by}});
    expect_nan<double>("normalise", {{1, std::nan("")}});
    EXPECT_EQ(fold<double>("normalise", {{0, -0.0}}), (Row{0, 0}));
}

/// numpy's sqrt(mean(x ** 2)) has the same limits. For inf, inf is the right answer.
TEST(StandardRange, RootsOfSquaresThatLeaveTheTypeAreInfiniteOrZero)
{
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(fold<double>("root_mean_square", {{1e-300, inf, 1}}), Row{inf});
    EXPECT_EQ(fold<float>("root_mean_square", {{1e25F, 2e25F}}), Row{inf});
    EXPECT_EQ(fold<float>("root_mean_square", {{1e-30F, 2e-30F}}), Row{0});
    EXPECT_EQ(fold<float>("euclidean_distance", {{1e25F}, {-1e25F}}), Row{inf});
    expect_near<float>("norm", {{3e25F, 4e25F}}, {double{5e25F}});
    expect_nan<double>("root_mean_square", {{}});
    for (const double other : {0.0, 1e-300, 1.0, 1e300}) {
        expect_nan<double>("root_mean_square", {{other, std::nan("")}});
        expect_nan<double>("euclidean_distance", {{other, std::nan("")}, {0, 0}});
    }
}

TEST(StandardRange, CosinesAreRightOrNan)
{
    for (const float by : {1.0F, 1e-17F, 1e18F})
        for (const float other : {1.0F, 1e-17F, 1e18F}) {
            expect_near<float>("cosine", {{by, 2 * by}, {2 * other, other}}, {0.8});
            expect_near<float>("cosine", {{by, 0, 2 * by}, {-2 * other, other, -other}},
                               {-4 / std::sqrt(5) / std::sqrt(6)});
        }
    for (const float by : {1e20F, 1e-20F, 1e-30F}) {
        expect_nan<float>("cosine", {{by, 2 * by}, {2, 1}});
        expect_nan<float>("cosine", {{2, 1}, {by, 2 * by}});
    }
    for (const float by : {0.1F, 1e-15F, 3e15F})
        EXPECT_EQ(fold<float>("cosine", {{by, 3 * by}, {by, 3 * by}}), Row{1}) << by;
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    for (const auto& x : std::vector<Row>{{0, 0}, {1, inf}, {1, nan}, {nan, 0}, {inf, -inf}}) {
        expect_nan<double>("cosine", {x, {1, 1}});
        expect_nan<double>("cosine", {{1, 1}, x});
    }
    expect_nan<double>("cosine", {{}, {}});
}

TEST(StandardRange, CorrelationsAreRightOrNan)
{
    for (const float by : {1.0F, 1e10F, 1e18F, 1e-10F, 1e-18F})
        EXPECT_EQ(fold<float>("correlation", {{by, 2 * by, 4 * by}, {by, 2 * by, 4 * by}}), Row{1}) << by;
    expect_near<double>("correlation", {{1e80, 2e80, 4e80}, {-1e80, -2e80, -4e80}}, {-1});
    expect_near<float>("correlation", {{1e18F, 2e18F, 4e18F}, {1e-18F, 2e-18F, 4e-18F}}, {1});
    expect_near<float>("correlation", {{1e18F, 2e18F, 4e18F}, {3, 1, 2}}, {-0.3273268353539886});
    expect_near<float>("correlation", {{1e-18F, 2e-18F, 4e-18F}, {3e-15F, 1e-15F, 2e-15F}},
                       {-0.3273268353539886});
    expect_near<double>("correlation", {{1e-150, 2e-150, 4e-150}, {1e150, 2e150, 4e150}}, {1});
    const std::vector<float> y = {1, 2, 3};
    for (const float by : {1e20F, 1e30F, 1e-22F, 1e-30F}) {
        expect_nan<float>("correlation", {{by, 2 * by, 4 * by}, y});
        expect_nan<float>("correlation", {y, {by, 2 * by, 4 * by}});
    }
}

TEST(StandardRange, ShareAndStandardiseAreNanWhereTheirSumOverflows)
{
    constexpr std::size_t kScale = 1, kOutput = 2;
    expect_nan<float>("share", {{3e38F, 3e38F, 1}});
    expect_near<float>("share", {{1e38F, 1e38F}}, {0.5, 0.5});
    expect_near<float>("share", {{1e-40F, 1e-40F}}, {0.5, 0.5});
    for (const float by : {1e20F, 1e30F, 1e-21F, 1e-30F, 1e-40F})
        expect_nan<float>("standardise", {{by, 3 * by}}, kOutput);
    for (const float by : {1e18F, 1e-18F})
        expect_near<float>("standardise", {{by, 3 * by}}, {-1, 1}, kOutput);
    expect_near<double>("standardise", {{1e100, 3e100}}, {-1, 1}, kOutput);
    for (const float equal : {0.0F, 1e-40F, 3e38F}) {
        EXPECT_EQ(fold<float>("standardise", {{equal, equal, equal}}, kOutput), (Row{0, 0, 0})) << equal;
        EXPECT_EQ(fold<float>("standardise", {{equal, equal, equal}}, kScale), Row{0}) << equal;
    }
}

TEST(StandardRange, RescaleSpansTheWholeType)
{
    const double huge = std::numeric_limits<double>::max(), inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(fold<float>("rescale", {{-3e38F, 0, 3e38F}}), (Row{0, 0.5, 1}));
    EXPECT_EQ(fold<double>("rescale", {{-huge, 0, huge, huge / 2}}), (Row{0, 0.5, 1, 0.75}));
    EXPECT_EQ(fold<double>("rescale", {{1e-320, 3e-320, 2e-320}}), (Row{0, 1, 0.5}));
    EXPECT_EQ(fold<double>("rescale", {{1, inf, 1}})[0], 0);
}

TEST(StandardRange, LinesAreRightOrNan)
{
    constexpr std::size_t kIntercept = 1;
    const std::vector<float> y = {3, 5, 7};
    for (const float by : {1.0F, 1e15F, 1e-15F}) {
        expect_near<float>("linear_regression", {{by, 2 * by, 3 * by}, y}, {2 / double{by}});
        expect_near<float>("linear_regression", {{by, 2 * by, 3 * by}, y}, {1}, kIntercept);
        expect_near<float>("linear_regression", {{1, 2, 3}, {by, 2 * by, 3 * by}}, {double{by}});
    }
    expect_near<float>("linear_regression", {{1, 2, 3}, {1e-30F, 2e-30F, 3e-30F}}, {double{1e-30F}});
    EXPECT_EQ(fold<float>("linear_regression", {{1, 2, 3}, {4, 4, 4}}), Row{0});
    expect_near<float>("linear_regression", {{1e10F, 2e10F, 3e10F}, {3e-36F, 5e-36F, 7e-36F}}, {1e-36},
                       kIntercept);
    for (const float by : {1e20F, 1e-22F, 1e-30F}) {
        expect_nan<float>("linear_regression", {{by, 2 * by, 3 * by}, y});
        expect_nan<float>("linear_regression", {{by, 2 * by, 3 * by}, y}, kIntercept);
    }
    expect_nan<float>("linear_regression", {{1e-10F, 2e-10F, 3e-10F}, {1e-34F, 2e-34F, 3e-34F}});
}

/// Stages combine elements with the identity, which lies far from large means.
TEST(StandardRange, LinesThroughDistantPointsDoNotPassTheIdentity)
{
    if (!test::has_compiler())
        GTEST_SKIP() << "the host's cores need a C++ compiler";
    Session session({.backend = "cpu"});
    std::vector<double> x, y;
    for (int i = 0; i < 100; ++i) {
        x.push_back(1e160 * (1 + 0x1p-40 * i));
        y.push_back(i);
    }
    const std::vector<ArrayView> columns = {x, y};
    const auto folded = session.fold(standard_operator("linear_regression", Type::f64), columns, uniform(50));
    for (std::size_t segment = 0; segment < 2; ++segment)
        EXPECT_NEAR(value_of(folded.results()[0].array, segment), 0x1p40 / 1e160, 1e-150);
}

TEST(StandardRange, MomentsAreRightOrNan)
{
    constexpr std::size_t kVariance = 1, kSkewness = 2, kKurtosis = 3;
    const auto spread = [](float by) { return std::vector<std::vector<float>>{{by, 2 * by, 6 * by}}; };
    for (const float by : {1.0F, 1e8F, 1e-8F}) {
        expect_near<float>("moments", spread(by), {14.0 / 3 * by * by}, kVariance);
        EXPECT_NEAR(fold<float>("moments", spread(by), kSkewness)[0], 0.595170064139495, 1e-5) << by;
        EXPECT_NEAR(fold<float>("moments", spread(by), kKurtosis)[0], -1.5, 1e-5) << by;
    }
    EXPECT_NEAR(fold<float>("moments", spread(1e11F), kSkewness)[0], 0.595170064139495, 1e-5);
    for (const float by : {1e13F, 1e20F, 1e-14F, 1e-20F, 1e-30F}) {
        expect_nan<float>("moments", spread(by), kSkewness);
        expect_nan<float>("moments", spread(by), kKurtosis);
    }
    for (const float by : {1e-10F, 1e-11F})
        expect_nan<float>("moments", spread(by), kKurtosis);
}

TEST(StandardRange, WeightedMeansAreRightOrNan)
{
    expect_nan<float>("weighted_mean", {{1e-3F, 1e-3F}, {3e38F, 3e38F}});
    expect_near<float>("weighted_mean", {{1e-3F, 1e-3F}, {1e38F, 1e38F}}, {double{1e-3F}});
    expect_nan<float>("weighted_mean", {{1, 2}, {1, -1}});
}

/// The error of an infinite sum is NaN, and no longer counts.
TEST(StandardRange, CompensatedSumsOverflowAsPlainOnesDo)
{
    const double inf = std::numeric_limits<double>::infinity(), huge = std::numeric_limits<double>::max();
    constexpr std::size_t kLow = 1;
    for (const auto& x : std::vector<Row>{
             {inf, 1}, {1, inf, 2}, {inf, inf}, {inf}, {huge, huge, 1}, {huge, huge, -1}, {-inf, 1, -huge}}) {
        const double sum = std::accumulate(x.begin(), x.end(), 0.0);
        EXPECT_EQ(fold<double>("kahan_sum", {x}), Row{sum}) << testing::PrintToString(x);
        EXPECT_EQ(fold<double>("double_double_sum", {x}), Row{sum}) << testing::PrintToString(x);
        EXPECT_EQ(fold<double>("double_double_sum", {x}, kLow), Row{0}) << testing::PrintToString(x);
    }
    EXPECT_EQ(fold<float>("kahan_sum", {{3e38F, 3e38F, 1}}), Row{inf});
    EXPECT_EQ(fold<float>("double_double_sum", {{-3e38F, -3e38F}}), Row{-inf});
    for (const std::string op : {"kahan_sum", "double_double_sum"}) {
        expect_nan<double>(op, {{inf, 1, -inf}});
        expect_nan<double>(op, {{1, std::nan("")}});
        EXPECT_EQ(fold<double>(op, {{1e16, 1, -1e16}}), Row{1}) << op;
    }
}

}  // namespace
}  // namespace segfold::standard_range_test
