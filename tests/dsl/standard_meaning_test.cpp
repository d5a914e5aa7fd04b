// Compares results of standard operators with a few lines of C++ that compute the same without merging
// states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "dsl/half.h"
#include "segfold/segfold.h"
#include "tests/cli/cli_program.h"

namespace segfold::standard_meaning_test {
namespace {

using Row = std::vector<double>;

Session& reference()
{
    static Session session({.backend = "reference"});
    return session;
}

double value_of(const Array& array, std::size_t at)
{
    switch (array.type()) {
        case Type::boolean: return static_cast<double>(array.as<bool>()[at]);
        case Type::i32: return array.as<std::int32_t>()[at];
        case Type::u32: return array.as<std::uint32_t>()[at];
        case Type::i64: return static_cast<double>(array.as<std::int64_t>()[at]);
        case Type::f16: return f16_to_f32(array.as<std::uint16_t>()[at]);
        default: return array.as<double>()[at];
    }
}

/// The results of one segment.
template <class T>
Row fold(const std::string& op, const std::vector<std::vector<T>>& columns)
{
    const std::vector<ArrayView> inputs(columns.begin(), columns.end());
    const auto folded =
        reference().fold(standard_operator(op, type_of_element<T>()), inputs,
                         offsets(std::vector<std::int64_t>{0, static_cast<std::int64_t>(columns[0].size())}));
    Row row;
    for (const auto& result : folded.results())
        row.push_back(value_of(result.array, 0));
    return row;
}

using Integers = std::vector<std::int32_t>;

/// The length of the longest stretch in which `joins(place)` holds for each place but the first.
double longest(std::size_t size, const std::function<bool(std::size_t)>& joins)
{
    double best = 0, now = 0;
    for (std::size_t i = 0; i < size; ++i) {
        now = i > 0 && joins(i) ? now + 1 : 1;
        best = std::max(best, now);
    }
    return best;
}

Row first_of(Integers x, std::size_t count, double fill, bool greatest)
{
    std::ranges::sort(x);
    if (greatest)
        std::ranges::reverse(x);
    Row row(count, fill);
    for (std::size_t i = 0; i < std::min(count, x.size()); ++i)
        row[i] = x[i];
    return row;
}

double longest_nonzero(const Integers& x)
{
    double best = 0, now = 0;
    for (const auto v : x)
        best = std::max(best, now = v != 0 ? now + 1 : 0);
    return best;
}

bool matches(const Integers& x)
{
    int depth = 0;
    for (const auto v : x) {
        depth += (v > 0) - (v < 0);
        if (depth < 0)
            return false;
    }
    return depth == 0;
}

Row histogram(const Integers& x, std::size_t bins)
{
    Row row(bins);
    for (const auto v : x)
        if (v >= 0 && v < static_cast<std::int32_t>(bins))
            ++row[static_cast<std::size_t>(v)];
    return row;
}

double least_common_multiple(const Integers& x)
{
    std::uint64_t multiple = 1;
    for (const auto v : x)
        multiple =
            multiple > 0xffffffff ? multiple : std::lcm(multiple, static_cast<std::uint64_t>(std::abs(v)));
    return multiple > 0xffffffff || std::ranges::count(x, 0) != 0 ? 0 : static_cast<double>(multiple);
}

const std::map<std::string, std::function<Row(const Integers&)>> kOfIntegers = {
    {"top_four", [](const auto& x) { return first_of(x, 4, std::numeric_limits<int>::lowest(), true); }},
    {"top_eight", [](const auto& x) { return first_of(x, 8, std::numeric_limits<int>::lowest(), true); }},
    {"bottom_four", [](const auto& x) { return first_of(x, 4, std::numeric_limits<int>::max(), false); }},
    {"longest_run", [](const auto& x) { return Row{longest_nonzero(x)}; }},
    {"longest_sorted",
     [](const auto& x) { return Row{longest(x.size(), [&](auto i) { return x[i - 1] <= x[i]; })}; }},
    {"is_sorted", [](const auto& x) { return Row{std::ranges::is_sorted(x) ? 1.0 : 0.0}; }},
    {"count_runs",
     [](Integers x) {
         const auto runs = std::distance(x.begin(), std::unique(x.begin(), x.end()));
         return Row{static_cast<double>(runs)};
     }},
    {"balanced_brackets", [](const auto& x) { return Row{matches(x) ? 1.0 : 0.0}; }},
    {"histogram_8", [](const auto& x) { return histogram(x, 8); }},
    {"histogram_16", [](const auto& x) { return histogram(x, 16); }},
    {"gcd",
     [](const auto& x) {
         return Row{static_cast<double>(std::accumulate(x.begin(), x.end(), 0, std::gcd<int, int>))};
     }},
    {"lcm", [](const auto& x) { return Row{least_common_multiple(x)}; }},
    {"range",
     [](const auto& x) {
         return x.empty() ? Row{std::numeric_limits<int>::max(), std::numeric_limits<int>::lowest()}
                          : Row{double(std::ranges::min(x)), double(std::ranges::max(x))};
     }},
    {"saturating_count",
     [](const auto& x) { return Row{double(std::ranges::count_if(x, [](auto v) { return v != 0; }))}; }},
};

TEST(StandardMeaning, OfIntegers)
{
    std::mt19937 random(7);
    for (const auto& [name, meaning] : kOfIntegers)
        for (const std::int32_t most : {1, 3, 20})
            for (std::size_t length = 0; length < 24; ++length) {
                Integers x(length);
                for (auto& v : x)
                    v = std::uniform_int_distribution<std::int32_t>(
                        name == "balanced_brackets" ? -1 : -most / 2, most)(random);
                EXPECT_EQ(fold<std::int32_t>(name, {x}), meaning(x))
                    << name << ' ' << testing::PrintToString(x);
            }
    EXPECT_EQ(fold<std::int32_t>("saturating_count", {Integers(300, 1)}), (Row{255}));
}

struct Columns {
    Row x, y;
};

double mean(const Row& x, const std::function<double(double)>& f)
{
    double sum = 0;
    for (const auto v : x)
        sum += f(v);
    return sum / static_cast<double>(x.size());
}

double moment(const Row& x, int power)
{
    const double middle = mean(x, [](double v) { return v; });
    return mean(x, [&](double v) { return std::pow(v - middle, power); });
}

double co_moment(const Columns& c)
{
    const double x_mean = mean(c.x, [](double v) { return v; }),
                 y_mean = mean(c.y, [](double v) { return v; });
    double sum = 0;
    for (std::size_t i = 0; i < c.x.size(); ++i)
        sum += (c.x[i] - x_mean) * (c.y[i] - y_mean);
    return sum / static_cast<double>(c.x.size());
}

double sum_over(const Columns& c, const std::function<double(double, double)>& f)
{
    double sum = 0;
    for (std::size_t i = 0; i < c.x.size(); ++i)
        sum += f(c.x[i], c.y[i]);
    return sum;
}

/// Operators on two columns of positive values.
const std::map<std::string, std::function<Row(const Columns&)>> kOfReals = {
    {"covariance", [](const auto& c) { return Row{co_moment(c)}; }},
    {"correlation",
     [](const auto& c) { return Row{co_moment(c) / std::sqrt(moment(c.x, 2) * moment(c.y, 2))}; }},
    {"linear_regression",
     [](const auto& c) {
         const double slope = co_moment(c) / moment(c.x, 2);
         return Row{slope,
                    mean(c.y, [](double v) { return v; }) - slope * mean(c.x, [](double v) { return v; })};
     }},
    {"weighted_mean",
     [](const auto& c) {
         return Row{sum_over(c, [](double x, double w) { return x * w; }) /
                    sum_over(c, [](double, double w) { return w; })};
     }},
    {"softmax_mean",
     [](const auto& c) {
         return Row{sum_over(c, [](double x, double v) { return std::exp(x) * v; }) /
                    sum_over(c, [](double x, double) { return std::exp(x); })};
     }},
    {"euclidean_distance",
     [](const auto& c) {
         return Row{std::sqrt(sum_over(c, [](double x, double y) { return (x - y) * (x - y); }))};
     }},
    {"cosine",
     [](const auto& c) {
         const auto dot = [](double a, double b) { return a * b; };
         return Row{sum_over(c, dot) / std::sqrt(sum_over({c.x, c.x}, dot) * sum_over({c.y, c.y}, dot))};
     }},
    {"centroid",
     [](const auto& c) {
         return Row{mean(c.x, [](double v) { return v; }), mean(c.y, [](double v) { return v; })};
     }},
    {"moments",
     [](const auto& c) {
         const double variance = moment(c.x, 2);
         return Row{mean(c.x, [](double v) { return v; }), variance, moment(c.x, 3) / std::pow(variance, 1.5),
                    moment(c.x, 4) / (variance * variance) - 3};
     }},
    {"geometric_mean",
     [](const auto& c) { return Row{std::exp(mean(c.x, [](double v) { return std::log(v); }))}; }},
    {"harmonic_mean", [](const auto& c) { return Row{1 / mean(c.x, [](double v) { return 1 / v; })}; }},
    {"norm",
     [](const auto& c) {
         return Row{std::sqrt(sum_over({c.x, c.x}, [](double a, double b) { return a * b; }))};
     }},
    {"entropy",
     [](const auto& c) {
         const double sum = sum_over(c, [](double x, double) { return x; });
         return Row{sum_over(c, [&](double x, double) { return -x / sum * std::log(x / sum); })};
     }},
    {"log_sum_exp",
     [](const auto& c) { return Row{std::log(sum_over(c, [](double x, double) { return std::exp(x); }))}; }},
};

TEST(StandardMeaning, OfReals)
{
    std::mt19937 random(11);
    std::uniform_real_distribution<double> positive(0.1, 4);
    for (const auto& [name, meaning] : kOfReals)
        for (const std::size_t length : {3, 4, 17, 200}) {
            Columns c{Row(length), Row(length)};
            std::ranges::generate(c.x, [&] { return positive(random); });
            std::ranges::generate(c.y, [&] { return positive(random); });
            const bool is_pair = standard_parameters(name).size() == 2;
            const auto found = is_pair ? fold<double>(name, {c.x, c.y}) : fold<double>(name, {c.x});
            const auto wanted = meaning(c);
            ASSERT_EQ(found.size(), wanted.size()) << name;
            for (std::size_t i = 0; i < wanted.size(); ++i)
                EXPECT_NEAR(found[i], wanted[i], 1e-10 * (1 + std::abs(wanted[i])))
                    << name << ", result " << i;
        }
}

/// Long segments of f16, which as a count would stop at 2048: results are rounded once, at the end.
TEST(StandardMeaning, OfManyHalves)
{
    std::mt19937 random(12);
    std::uniform_real_distribution<float> positive(0.5, 4);
    for (const auto& [name, meaning] : kOfReals) {
        std::vector<std::vector<half>> columns;
        Columns c;
        for (Row* const row : {&c.x, &c.y}) {
            auto& column = columns.emplace_back(5000);
            std::ranges::generate(column, [&] { return half{f32_to_f16(positive(random))}; });
            std::ranges::transform(column, std::back_inserter(*row),
                                   [](half value) { return f16_to_f32(value.bits); });
        }
        columns.resize(standard_parameters(name).size());
        const auto found = fold<half>(name, columns);
        const auto wanted = meaning(c);
        ASSERT_EQ(found.size(), wanted.size()) << name;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            EXPECT_NEAR(found[i], wanted[i], 2e-3 * (1 + std::abs(wanted[i]))) << name << ", result " << i;
    }
}

/// Values whose sums need more than 64 bits, or more than the range of f32.
TEST(StandardMeaning, NothingWrapsOrNarrows)
{
    const std::int64_t large = std::int64_t{1} << 62;
    EXPECT_EQ(fold<std::int64_t>("mean", {{large, large, large, large}})[0], std::ldexp(1.0, 62));
    const std::uint64_t largest = ~std::uint64_t{0};
    EXPECT_EQ(fold<std::uint64_t>("mean", {{largest, largest}})[0], std::ldexp(1.0, 64));
    EXPECT_EQ(fold<std::int32_t>("mean", {{0x7fffffff, 0x7fffffff, 0x7ffffffc}})[0], 0x7ffffffe);
    EXPECT_EQ(fold<double>("wide_sum", {{1e300, 16777216, 1}})[0], 1e300);
    EXPECT_EQ(fold<double>("wide_sum", {{16777216, 1}})[0], 16777217);
}

/// An element may have the same value as the identity.
TEST(StandardMeaning, TheLastOfEqualExtremes)
{
    constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
    constexpr auto kGreatest = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(fold<std::int32_t>("argmax_last", {{3, 5, 5, 1}}), (Row{5, 2}));
    EXPECT_EQ(fold<std::int32_t>("argmin_last", {{3, 1, 1, 5}}), (Row{1, 2}));
    EXPECT_EQ(fold<std::int32_t>("argmax_last", {{kLeast, kLeast}}), (Row{kLeast, 1}));
    EXPECT_EQ(fold<std::int32_t>("argmin_last", {{kGreatest, kGreatest}}), (Row{kGreatest, 1}));
    EXPECT_EQ(fold<std::int32_t>("argmax_last", {{}}), (Row{kLeast, -1}));
    EXPECT_EQ(fold<std::int32_t>("argmin_last", {{}}), (Row{kGreatest, -1}));
}

TEST(StandardMeaning, WhatIsNoNumberIsSaidOrCountsNowhere)
{
    const double nan = std::nan("");
    EXPECT_TRUE(std::isnan(fold<double>("entropy", {{1, nan, 3}})[0]));
    EXPECT_EQ(fold<double>("entropy", {{0, 0}})[0], 0);
    for (const double value :
         {nan, std::numeric_limits<double>::infinity()}) {  // a single value: nothing is merged
        EXPECT_TRUE(std::isnan(fold<double>("covariance", {{value}, {1}})[0]));
        EXPECT_TRUE(std::isnan(fold<double>("covariance", {{1}, {value}})[0]));
        EXPECT_TRUE(std::isnan(fold<double>("moments", {{value}})[1]));
        EXPECT_TRUE(std::isnan(fold<double>("mean_variance", {{value}})[1]));
    }
    EXPECT_EQ(fold<double>("covariance", {{3}, {1}})[0], 0);
    EXPECT_EQ(fold<double>("moments", {{3}})[1], 0);
    EXPECT_EQ(fold<double>("mean_variance", {{3}}), (Row{3, 0}));
    EXPECT_EQ(fold<double>("quantile_sketch", {{nan, 8, nan}}), (Row{0, 0, 0, 0, 0, 0, 0, 1}));
}

/// Stages combine elements with the identity, whose zeros are so far from a large mean that the square of the
/// distance overflows.
TEST(StandardMeaning, LargeValuesAreNoSpreadFromTheIdentity)
{
    if (!test::has_compiler())
        GTEST_SKIP() << "the host's cores need a C++ compiler";
    Session session({.backend = "cpu"});
    const std::vector<double> x = {1e160, 2e160, 1e160, 1e160}, y = {1e160, 1e160, -3e160, 0};
    for (const std::string name : {"moments", "mean_variance", "covariance"}) {
        const auto op = standard_operator(name, Type::f64);
        std::vector<ArrayView> columns = {x, y};
        columns.resize(op.parameters.size(), x);
        const auto folded = session.fold(op, columns, uniform(1));
        const auto& spread = folded.results()[name == "covariance" ? 0 : 1].array;
        for (std::size_t segment = 0; segment < x.size(); ++segment)
            EXPECT_EQ(value_of(spread, segment), 0) << name << ", segment " << segment;
    }
}

/// Each register gets a quarter of a thousand evenly spaced values. Its rank is near the logarithm of their
/// number.
TEST(StandardMeaning, SketchesOfDistinctValuesUseAllBits)
{
    for (const int step : {1, 4, 256, 65536, -4}) {
        std::vector<std::int32_t> values(1000);
        for (int i = 0; i < 1000; ++i)
            values[static_cast<std::size_t>(i)] = i * step;
        for (const double rank : fold<std::int32_t>("hyperloglog", {values})) {
            EXPECT_GE(rank, 5) << step;
            EXPECT_LE(rank, 16) << step;
        }
    }
}

/// Sums of multiples of a power of two, which i64 holds exactly.
TEST(StandardMeaning, BinnedSumsAreExactInEveryOrder)
{
    std::mt19937_64 random(3);
    for (const int exponent : {-1074, -1050, -700, -33, 0, 31, 480, 900, 950})
        for (int round = 0; round < 4; ++round) {
            std::vector<double> values;
            std::int64_t total = 0;
            for (int i = 0; i < 300; ++i) {
                auto units = static_cast<std::int64_t>(random() >> (14 + random() % 50));
                units = i % 2 == 0 ? units : -units;
                if (i % 50 == 49)
                    units = -total;  // the total is far less than the values added
                total += units;
                values.push_back(std::ldexp(static_cast<double>(units), exponent));
            }
            const double wanted = std::ldexp(static_cast<double>(total), exponent);
            const double found = fold<double>("binned_sum", {values})[0];
            const double unit =
                std::nextafter(std::abs(wanted), std::numeric_limits<double>::infinity()) - std::abs(wanted);
            EXPECT_LE(std::abs(found - wanted), 2 * unit)
                << exponent << ", " << total << ": " << found << ", " << wanted;
            std::ranges::shuffle(values, random);
            EXPECT_EQ(fold<double>("binned_sum", {values})[0], found);
        }
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(fold<double>("binned_sum", {{1, inf, 2}})[0], inf);
    EXPECT_EQ(fold<double>("binned_sum", {{-inf, 1}})[0], -inf);
    EXPECT_TRUE(std::isnan(fold<double>("binned_sum", {{-inf, 1, inf}})[0]));
    EXPECT_TRUE(std::isnan(fold<double>("binned_sum", {{1, std::nan("")}})[0]));
    EXPECT_EQ(fold<double>("binned_sum", {{}})[0], 0);
}

/// The pairs for which Euclid's algorithm takes the most steps, in both orders.
TEST(StandardMeaning, GreatestCommonDivisorsHaveStepsEnough)
{
    const auto divisor = [](std::uint32_t a, std::uint32_t b) {
        return fold<std::uint32_t>("gcd", {{a, b}})[0];
    };
    std::uint64_t small = 1, large = 2;  // least absolute remainders: 1, 2, 5, 12, 29, ...
    for (std::uint64_t next = 5; next <= 0xffffffff; next = 2 * large + small) {
        small = large;
        large = next;
        EXPECT_EQ(divisor(static_cast<std::uint32_t>(large), static_cast<std::uint32_t>(small)), 1) << large;
        EXPECT_EQ(divisor(static_cast<std::uint32_t>(small), static_cast<std::uint32_t>(large)), 1) << large;
    }
    EXPECT_GT(large, 0x80000000 / 3);
    std::mt19937 random(5);
    for (int i = 0; i < 100; ++i) {
        const auto common = static_cast<std::uint32_t>(random() >> (random() % 32));
        const auto a = common * static_cast<std::uint32_t>(random() % 7),
                   b = static_cast<std::uint32_t>(random());
        EXPECT_EQ(divisor(a, b), std::gcd(a, b)) << a << ", " << b;
    }
}

}  // namespace
}  // namespace segfold::standard_meaning_test
