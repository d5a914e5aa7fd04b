// Standard operators far from 0, over more than 2^31 elements, and at the ends of the ranges of their
// results.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "segfold/segfold.h"
#include "tests/cli/cli_program.h"

namespace segfold::standard_accuracy_test {
namespace {

using State = std::vector<Slot<double>>;
using Real = long double;

template <class T>
using Columns = std::vector<std::vector<T>>;

/// Values around `distance` times their spread. The second column correlates with the first.
template <class T>
Columns<T> far_from_zero(std::size_t length, double distance)
{
    std::mt19937_64 random(21);
    std::normal_distribution<double> spread(0, 1e-3);
    Columns<T> columns(2);
    for (std::size_t i = 0; i < length; ++i) {
        const double x = spread(random);
        columns[0].push_back(static_cast<T>(1e-3 * distance + x));
        columns[1].push_back(static_cast<T>(1e-3 * distance + 0.6 * x + 0.8 * spread(random)));
    }
    return columns;
}

/// Means, and sums of products of differences from them, for the elements `begin` to `end` - 1.
struct Moments {
    Real x_mean = 0, y_mean = 0, xx = 0, xy = 0, yy = 0, xxx = 0;

    template <class T>
    Moments(const Columns<T>& c, std::size_t begin, std::size_t end) : n(static_cast<Real>(end - begin))
    {
        const Real x = c[0][begin], y = c[1][begin];  // differences from a value nearby are exact
        Real x_rest = 0, y_rest = 0;
        for (auto i = begin; i < end; ++i) {
            x_rest += (c[0][i] - x) / n;
            y_rest += (c[1][i] - y) / n;
        }
        x_mean = x + x_rest;
        y_mean = y + y_rest;
        for (auto i = begin; i < end; ++i) {
            const Real dx = c[0][i] - x - x_rest, dy = c[1][i] - y - y_rest;
            xx += dx * dx / n;
            xy += dx * dy / n;
            yy += dy * dy / n;
            xxx += dx * dx * dx / n;
        }
    }
    Real n;
};

template <class T>
Real value_of(const Array& array, std::size_t at)
{
    return array.as<T>()[at];
}

/// Compares the results of segments of `length` with moments in long double. A result may be off by 32
/// epsilons of its type, times a scale that grows with its conditioning.
template <class T>
void expect_accurate(Session& session, const Columns<T>& columns, std::size_t length)
{
    constexpr Real kEpsilon = std::numeric_limits<T>::epsilon();
    const auto results = [&](const std::string& name) {
        const auto op = standard_operator(name, type_of_element<T>());
        std::vector<ArrayView> inputs(columns.begin(), columns.end());
        inputs.resize(op.parameters.size(), columns[0]);
        return session.fold(op, inputs, uniform(static_cast<std::int64_t>(length)));
    };
    const auto mean_variance = results("mean_variance"), moments = results("moments"),
               standardise = results("standardise"), covariance = results("covariance"),
               correlation = results("correlation"), line = results("linear_regression");
    const auto expect = [&](const Folded& folded, std::size_t result, std::size_t segment, Real wanted,
                            Real scale, const std::string& name) {
        const Real found = value_of<T>(folded.results().at(result).array, segment);
        EXPECT_NEAR(static_cast<double>(found), static_cast<double>(wanted),
                    static_cast<double>(32 * kEpsilon * scale))
            << name << ", " << length << " elements around " << columns[0][0];
    };
    for (std::size_t segment = 0; segment < std::min<std::size_t>(40, columns[0].size() / length);
         ++segment) {
        const Moments m(columns, segment * length, (segment + 1) * length);
        const Real sd = std::sqrt(m.xx), mixed = std::sqrt(m.xx * m.yy);
        expect(mean_variance, 0, segment, m.x_mean, std::fabs(m.x_mean) + sd, "mean");
        expect(mean_variance, 1, segment, m.xx, m.xx, "variance");
        expect(moments, 1, segment, m.xx, m.xx, "variance of moments");
        expect(moments, 2, segment, m.xxx / (m.xx * sd), 1, "skewness");
        expect(standardise, 1, segment, 1 / sd, 1 / sd, "scale");
        expect(covariance, 0, segment, m.xy, mixed, "covariance");
        expect(correlation, 0, segment, m.xy / mixed, 1, "correlation");
        expect(line, 0, segment, m.xy / m.xx, mixed / m.xx, "slope");
    }
}

/// Folds in the order of the elements and in that of a stage. A sum of 20000 squares one by one loses more
/// digits.
TEST(StandardAccuracy, FarFromZeroIsAsNearIt)
{
    Session reference({.backend = "reference"});
    for (const double distance : {0.0, 1.0, 1e3, 1e6})
        for (const std::size_t length : {20, 1000}) {
            expect_accurate(reference, far_from_zero<float>(2000, distance), length);
            expect_accurate(reference, far_from_zero<double>(2000, distance), length);
        }
    if (!test::has_compiler())
        GTEST_SKIP() << "the host's cores need a C++ compiler";
    Session cores({.backend = "cpu"});
    expect_accurate(cores, far_from_zero<float>(500000, 1e6), 20000);
}

/// The place of an outlier does not matter.
TEST(StandardAccuracy, OutliersTakeNoDigits)
{
    Session session({.backend = "reference"});
    for (const std::size_t place : {0, 1, 999}) {
        auto columns = far_from_zero<float>(1000, 1e3);
        columns[0][place] = 1e6F;
        const Moments m(columns, 0, 1000);
        const auto folded =
            session.fold(standard_operator("mean_variance", Type::f32), {columns[0]}, uniform(1000));
        EXPECT_NEAR(folded.results()[0].array.as<float>()[0] / static_cast<double>(m.x_mean), 1, 1e-6)
            << place;
        EXPECT_NEAR(folded.results()[1].array.as<float>()[0] / static_cast<double>(m.xx), 1, 1e-6) << place;
    }
}

/// The results for 2^32 elements: the elements of `columns`, repeated.
std::vector<double> of_many(const std::string& name, Type type, const Columns<double>& columns)
{
    const auto op = standard_operator(name, type);
    const auto bytecode = compile_bytecode(op);
    Evaluator<double> evaluator(bytecode);
    const auto lift = [&](std::size_t i) {
        State values, state(op.state.size());
        for (std::size_t p = 0; p < op.parameters.size(); ++p) {
            Slot<double> slot{};
            if (is_float(type))
                Machine<double>::set_real(slot, type, columns[p][i]);
            else
                slot.bits = static_cast<std::uint64_t>(columns[p][i]);
            values.push_back(slot);
        }
        evaluator.lift(values.data(), 0, 0, 0, state.data());
        return state;
    };
    State state = lift(0);
    const State other = lift(1);
    evaluator.combine(state.data(), other.data(), state.data());
    for (int doubling = 1; doubling < 32; ++doubling) {
        const State half = state;
        evaluator.combine(half.data(), half.data(), state.data());
    }
    State results(op.results.size());
    evaluator.finish(state.data(), 0, std::int64_t{1} << 32, results.data());
    std::vector<double> values;
    for (std::size_t r = 0; r < results.size(); ++r)
        values.push_back(is_float(op.results[r].type)
                             ? Machine<double>::get_real(results[r], op.results[r].type)
                             : static_cast<double>(static_cast<std::int64_t>(results[r].bits)));
    return values;
}

TEST(StandardAccuracy, CountsPass32Bits)
{
    const Columns<double> of_floats = {{1, 3}, {2, 6}};
    const double many = 0x1p32;
    const std::map<std::string, std::vector<double>> wanted = {
        {"mean_variance", {2, 1}},
        {"welford_mean_variance", {2, 1}},
        {"moments", {2, 1, 0, -2}},
        {"standardise", {2, 1}},
        {"covariance", {2}},
        {"correlation", {1}},
        {"linear_regression", {2, 0}},
        {"centroid", {2, 4}},
        {"mean", {2}},
        {"mean_magnitude", {2}},
        {"root_mean_square", {std::sqrt(5)}},
        {"geometric_mean", {std::sqrt(3)}},
        {"harmonic_mean", {1.5}},
        {"count", {many}},
        {"count_nonzero", {many}},
        {"count_missing", {0}},
        {"hamming_distance", {many}},
        {"longest_run", {many}},
        {"quantile_sketch", {0, 0, 0, 0, many / 2, many / 2, 0, 0}}};
    for (const auto& [name, values] : wanted)
        for (const Type type : {Type::f32, Type::f64}) {
            const auto found = of_many(name, type, of_floats);
            ASSERT_EQ(found.size(), values.size()) << name;
            for (std::size_t i = 0; i < values.size(); ++i)
                EXPECT_NEAR(found[i], values[i], 1e-5 * std::max(1.0, std::abs(values[i])))
                    << name << ", " << i;
        }
    for (const std::string name : {"histogram_8", "histogram_16"}) {
        const auto found = of_many(name, Type::i32, {{1, 3}});
        EXPECT_EQ(found[1], many / 2) << name;
        EXPECT_EQ(found[3], many / 2) << name;
    }
    EXPECT_EQ(of_many("longest_sorted", Type::i32, {{3, 3}})[0], many);
    EXPECT_EQ(of_many("count_runs", Type::i32, {{1, 3}})[0], many);
}

/// Rounding does not push correlations, cosines and entropies out of their ranges. A NaN stays NaN.
template <class T>
void expect_within_bounds()
{
    Session session({.backend = "reference"});
    std::mt19937_64 random(5);
    std::normal_distribution<double> around(5, 1);
    std::vector<T> x, y, lone(20000, 0);
    for (int i = 0; i < 20000; ++i) {
        x.push_back(static_cast<T>(around(random)));
        y.push_back((i / 5) % 2 == 0 ? 3 * x.back() : -3 * x.back());
    }
    for (std::size_t i = 0; i < lone.size(); i += 5)
        lone[i] = x[i];
    const Type type = type_of_element<T>();
    for (const std::string name : {"correlation", "cosine"}) {
        const auto folded = session.fold(standard_operator(name, type), {x, y}, uniform(5));
        std::size_t ends = 0;
        for (const T value : folded.results()[0].array.template as<T>()) {
            EXPECT_LE(std::abs(value), 1) << name;
            EXPECT_GT(std::abs(value), T(0.9999)) << name;
            ends += std::abs(value) == 1;
        }
        EXPECT_GT(ends, 100u) << name;
    }
    const auto folded = session.fold(standard_operator("entropy", type), {lone}, uniform(5));
    for (const T value : folded.results()[0].array.template as<T>()) {
        EXPECT_GE(value, 0);
        EXPECT_LE(value, 1e-6);
    }
}

TEST(StandardAccuracy, ResultsStayWithinTheirBounds)
{
    expect_within_bounds<float>();
    expect_within_bounds<double>();
    Session session({.backend = "reference"});
    const std::vector<double> x = {1, 2, std::nan("")}, y = {2, 4, 1};
    for (const std::string name : {"correlation", "cosine"}) {
        EXPECT_TRUE(std::isnan(session.fold(standard_operator(name, Type::f64), {x, y}, uniform(3))
                                   .results()[0]
                                   .array.as<double>()[0]))
            << name;
        EXPECT_TRUE(std::isnan(session.fold(standard_operator(name, Type::f64), {y, x}, uniform(3))
                                   .results()[0]
                                   .array.as<double>()[0]))
            << name;
    }
    for (const std::vector<double>& weights : {std::vector<double>{1, -0.5}, {1, std::nan("")}})
        EXPECT_TRUE(std::isnan(session.fold(standard_operator("entropy", Type::f64), {weights}, uniform(2))
                                   .results()[0]
                                   .array.as<double>()[0]));
}

}  // namespace
}  // namespace segfold::standard_accuracy_test
