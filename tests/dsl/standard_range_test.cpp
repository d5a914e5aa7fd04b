// Standard operators over magnitudes whose squares, products or sums leave the range of the type.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "dsl/half.h"
#include "segfold/segfold.h"
#include "tests/cli/cli_program.h"

namespace segfold::standard_range_test {
namespace {

using Row = std::vector<double>;

double value_of(const Array& array, std::size_t at)
{
    switch (array.type()) {
        case Type::f16:
            return f16_to_f32(array.as<std::uint16_t>()[at]);
        case Type::f32:
            return array.as<float>()[at];
        default:
            return array.as<double>()[at];
    }
}

/// The first result, or the first output where there is no result, of each segment of `lengths`.
template <class T>
Row fold(const std::string& op, const std::vector<std::vector<T>>& columns, std::size_t result = 0)
{
    static Session session({.backend = "reference"});
    const std::vector<ArrayView> inputs(columns.begin(), columns.end());
    const auto folded =
        session.fold(standard_operator(op, type_of_element<T>()), inputs,
                     offsets(std::vector<std::int64_t>{0, static_cast<std::int64_t>(columns[0].size())}));
    const auto& array = folded.results().at(result).array;
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

/// Magnitudes of each kind, and of two kinds that both count.
template <class T>
void expect_scaled(const std::string& op, const std::function<Row(const Row&)>& meaning)
{
    const auto huge = static_cast<double>(std::numeric_limits<T>::max());
    const auto least = static_cast<double>(std::numeric_limits<T>::denorm_min());
    const double root = std::sqrt(huge);
    for (const Row& x : std::vector<Row>{{3, -4, 12},
                                         {huge / 8, -huge / 16, huge / 32},
                                         {1e20, 2e20},
                                         {1e-30, -2e-30},
                                         {64 * least, -48 * least, 0},
                                         {0.75 / root, 1.5 / root, 3 / root, 6 / root},
                                         {1e12, 1e15, 3e15, 5e16, -2e15},
                                         {3, 1e-30, huge / 4}}) {
        std::vector<T> column(x.begin(), x.end());
        expect_near<T>(op, {column}, meaning(Row(column.begin(), column.end())));
    }
}

/// Euclidean norm, without a square that leaves f64.
double norm_of(const Row& x)
{
    double norm = 0;
    for (const double v : x)
        norm = std::hypot(norm, v);
    return norm;
}

TEST(StandardRange, SquaresLeaveNoType)
{
    const auto mean = [](const Row& x) { return Row{norm_of(x) / std::sqrt(double(x.size()))}; };
    const auto shares = [](Row x) {
        const double norm = norm_of(x);
        for (double& v : x)
            v /= norm;
        return x;
    };
    expect_scaled<float>("root_mean_square", mean);
    expect_scaled<double>("root_mean_square", mean);
    expect_scaled<float>("normalise", shares);
    expect_scaled<double>("normalise", shares);
    expect_near<float>("euclidean_distance", {{1e25F, 5e25F}, {4e25F, 1e25F}}, {5e25});
    expect_near<float>("euclidean_distance", {{1e-30F, 5e-30F}, {4e-30F, 1e-30F}}, {5e-30});
    expect_near<double>("euclidean_distance", {{1e200, 5e200}, {4e200, 1e200}}, {5e200});
    EXPECT_EQ(fold<double>("normalise", {{0, -0.0}}), (Row{0, 0}));
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    EXPECT_EQ(fold<double>("root_mean_square", {{1e-300, inf, 1}}), Row{inf});
    EXPECT_TRUE(std::isnan(fold<double>("root_mean_square", {{}})[0]));
    for (const double other : {0.0, 1e-300, 1.0, 1e300}) {
        EXPECT_TRUE(std::isnan(fold<double>("root_mean_square", {{other, nan}})[0])) << other;
        EXPECT_TRUE(std::isnan(fold<double>("normalise", {{other, nan}})[0])) << other;
        EXPECT_TRUE(std::isnan(fold<double>("euclidean_distance", {{other, nan}, {0, 0}})[0])) << other;
    }
}

template <class T>
void expect_nan(const std::string& op, const std::vector<std::vector<T>>& columns, std::size_t result = 0)
{
    for (const double value : fold(op, columns, result))
        EXPECT_TRUE(std::isnan(value)) << op << " of " << testing::PrintToString(columns) << ": " << value;
}

TEST(StandardRange, CosinesAreOfAnyMagnitude)
{
    for (const float by : {1.0F, 1e-30F, 1e30F, 1e-38F, 1e37F})
        for (const float other : {1.0F, 1e-30F, 1e30F}) {
            expect_near<float>("cosine", {{by, 2 * by}, {2 * other, other}}, {0.8});
            expect_near<float>("cosine", {{by, 0, 2 * by}, {-2 * other, other, -other}},
                               {-4 / std::sqrt(5) / std::sqrt(6)});
        }
    expect_near<double>("cosine", {{1e-300, 2e-300}, {2e300, 1e300}}, {0.8});
    expect_near<double>("cosine", {{1, 1e100, -1e100}, {1, 1e-100, 1e-100}}, {1 / std::sqrt(2) / 1e100});
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    for (const auto& x : std::vector<Row>{{0, 0}, {1, inf}, {1, nan}, {nan, 0}, {inf, -inf}}) {
        expect_nan<double>("cosine", {x, {1, 1}});
        expect_nan<double>("cosine", {{1, 1}, x});
    }
    for (const double alone : {0.0, inf, nan})
        expect_nan<double>("cosine", {{alone}, {1}});
    expect_nan<double>("cosine", {{}, {}});
}

TEST(StandardRange, CorrelationsAreRightOrNan)
{
    for (const float by : {1.0F, 1e10F, 1e18F, 1e-10F, 1e-18F})
        expect_near<float>("correlation", {{by, 2 * by, 4 * by}, {by, 2 * by, 4 * by}}, {1});
    expect_near<double>("correlation", {{1e80, 2e80, 4e80}, {-1e80, -2e80, -4e80}}, {-1});
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

/// The error of an infinite sum is no number, and counts no more.
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
