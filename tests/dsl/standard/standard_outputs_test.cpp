// Standard operators that weigh, normalise and run within segments, beside plain loops over whole segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/text/standard_operators.h"
#include "runtime/judge/reference.h"
#include "tests/common/stage_cases.h"

namespace segfold::standard_outputs_test {
namespace {

using Real = long double;
using Row = std::vector<Real>;

constexpr Real kInf = std::numeric_limits<Real>::infinity();
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// What an operator reads in one segment. Tables hold a value for each position.
struct Segment {
    Row x, y;  ///< the first and the second column
    Row weight, bias;
    Real scalar;
    std::int64_t label;
    std::size_t number;

    [[nodiscard]] std::size_t size() const { return x.size(); }
};

using Meaning = std::function<Row(const Segment&)>;

/// A meaning that gives each element a value by itself.
Meaning each(std::function<Real(const Segment&, std::size_t)> value)
{
    return [value](const Segment& s) {
        Row row;
        for (std::size_t i = 0; i < s.size(); ++i)
            row.push_back(value(s, i));
        return row;
    };
}

Real mean(const Row& x)
{
    Real sum = 0;
    for (const Real v : x)
        sum += v;
    return sum / static_cast<Real>(x.size());
}

Real variance(const Row& x)
{
    const Real middle = mean(x);
    Row squares;
    for (const Real v : x)
        squares.push_back((v - middle) * (v - middle));
    return mean(squares);
}

/// The greatest value, or NaN if one of them is NaN.
Real greatest(const Row& z)
{
    Real most = -kInf;
    for (const Real v : z)
        most = std::isnan(v) || std::isnan(most) ? kNan : std::max(most, v);
    return most;
}

Real sum_of_exponentials(const Row& z)
{
    const Real top = greatest(z);
    Real sum = 0;
    for (const Real v : z)
        sum += v == top ? 1 : std::exp(v - top);
    return sum;
}

/// Softmax of `z` at `v`, one of its values. An infinite greatest value gets NaN, and all others get 0.
Real softmax(const Row& z, Real v) { return std::exp(v - greatest(z)) / sum_of_exponentials(z); }

/// The values that `takes(i)` takes of `value(i)`.
Row values(
    const Segment& s, const std::function<Real(std::size_t)>& value,
    const std::function<bool(std::size_t)>& takes = [](std::size_t) { return true; })
{
    Row row;
    for (std::size_t i = 0; i < s.size(); ++i)
        if (takes(i))
            row.push_back(value(i));
    return row;
}

Row first_values(const Segment& s, std::size_t count)
{
    return {s.x.begin(), s.x.begin() + static_cast<std::ptrdiff_t>(count)};
}

Row cross_entropy(const Segment& s)
{
    const Real top = greatest(s.x), sum = sum_of_exponentials(s.x);
    if (s.size() == 0 || std::isnan(top))
        return {kNan};
    if (s.label < 0 || s.label >= static_cast<std::int64_t>(s.size()))
        return {std::isinf(top) && top < 0 ? kNan : kInf};
    return {std::log(sum) - (s.x[static_cast<std::size_t>(s.label)] - top)};
}

Row linear_recurrence(const Segment& s)
{
    Row h;
    for (std::size_t i = 0; i < s.size(); ++i)
        h.push_back(i == 0 ? s.y[i] : s.x[i] * h.back() + s.y[i]);
    return h;
}

/// Each place gets the last number up to it; NaN where there is none.
Row filled(Row x)
{
    for (std::size_t i = 1; i < x.size(); ++i)
        x[i] = std::isnan(x[i]) ? x[i - 1] : x[i];
    return x;
}

Row reversed(Row x)
{
    std::ranges::reverse(x);
    return x;
}

Row drawdown(const Segment& s)
{
    Row below;
    Real most = -kInf;
    for (const Real v : s.x) {
        most = std::fmax(most, v);
        below.push_back(v == most ? 0 : most - v);
    }
    return below;
}

Row sessions(const Segment& s)
{
    Row numbers;
    for (std::size_t i = 0; i < s.size(); ++i)
        numbers.push_back(i == 0 ? 1 : numbers.back() + (s.x[i] - s.x[i - 1] > s.scalar ? 1 : 0));
    return numbers;
}

/// Scalars are all the same, eps, temperature, gap or fill; whole numbers are 2.
const std::map<std::string, Meaning> kOfReals = {
    {"rms_norm", each([](const Segment& s, std::size_t i) {
         const Real square = mean(values(s, [&](auto k) { return s.x[k] * s.x[k]; })) + s.scalar;
         return std::isinf(square) ? kNan : s.x[i] / std::sqrt(square) * s.weight[i];
     })},
    {"layer_norm", each([](const Segment& s, std::size_t i) {
         return (s.x[i] - mean(s.x)) / std::sqrt(variance(s.x) + s.scalar) * s.weight[i] + s.bias[i];
     })},
    {"group_norm", each([](const Segment& s, std::size_t i) {
         const auto channel = s.number % 2 * (s.size() / 2) + i / 2;
         return (s.x[i] - mean(s.x)) / std::sqrt(variance(s.x) + s.scalar) * s.weight[channel] +
                s.bias[channel];
     })},
    {"softmax_temperature", each([](const Segment& s, std::size_t i) {
         return softmax(values(s, [&](auto k) { return s.x[k] / s.scalar; }), s.x[i] / s.scalar);
     })},
    {"masked_softmax", each([](const Segment& s, std::size_t i) {
         const auto takes = [&](std::size_t k) { return s.y[k] != 0; };
         return takes(i) ? softmax(values(
                                       s, [&](auto k) { return s.x[k]; }, takes),
                                   s.x[i])
                         : 0;
     })},
    {"biased_softmax", each([](const Segment& s, std::size_t i) {
         return softmax(values(s, [&](auto k) { return s.x[k] + s.y[k]; }), s.x[i] + s.y[i]);
     })},
    {"cross_entropy", cross_entropy},
    {"linear_recurrence", linear_recurrence},
    {"running_variance",
     each([](const Segment& s, std::size_t i) { return variance(first_values(s, i + 1)); })},
    {"forward_fill", [](const Segment& s) { return filled(s.x); }},
    {"backward_fill", [](const Segment& s) { return reversed(filled(reversed(s.x))); }},
    {"drawdown", drawdown},
    {"sessions", sessions},
};

const std::map<std::string, Meaning> kOfNumbers = {
    {"row_number", each([](const Segment&, std::size_t i) { return static_cast<Real>(i + 1); })},
    {"previous", each([](const Segment& s, std::size_t i) { return i == 0 ? s.scalar : s.x[i - 1]; })},
    {"next", each([](const Segment& s, std::size_t i) { return i + 1 == s.size() ? s.scalar : s.x[i + 1]; })},
    {"drawdown", drawdown},
    {"sessions", sessions},
    {"linear_recurrence", linear_recurrence},
};

void put(Array& array, std::size_t at, Real value)
{
    Slot<double> slot{};
    if (is_float(array.type()))
        Machine<double>::set_real(slot, array.type(), static_cast<double>(value));
    else
        slot.bits = wrap(array.type(), static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    Machine<double>::store(slot, array.type(), array.data(), static_cast<std::int64_t>(at));
}

Real value_of(const Array& array, std::size_t at)
{
    Slot<double> slot{};
    Machine<double>::load(slot, array.type(), array.data(), static_cast<std::int64_t>(at));
    return is_float(array.type()) ? static_cast<Real>(Machine<double>::get_real(slot, array.type()))
           : is_signed_integer(array.type()) ? static_cast<Real>(static_cast<std::int64_t>(slot.bits))
                                             : static_cast<Real>(slot.bits);
}

Array array_of(Type type, const Row& values)
{
    Array array(type, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        put(array, i, values[i]);
    return array;
}

Row row_of(const Array& array, std::size_t begin, std::size_t end)
{
    Row row;
    for (auto i = begin; i < end; ++i)
        row.push_back(value_of(array, i));
    return row;
}

constexpr std::int64_t kLengths[] = {0, 1, 2, 3, 17, 0, 0, 200, 1, 5};
constexpr std::size_t kLongest = 200;

/// Folds segments of the elements that `next` gives, and compares each with its meaning.
void expect_meaning(const std::string& name, const Meaning& meaning, Type type,
                    const std::function<Real()>& next, std::mt19937& random)
{
    SCOPED_TRACE(name + " of " + std::string(segfold::name(type)));
    const std::vector<std::int64_t> lengths(std::begin(kLengths), std::end(kLengths));
    const auto offsets = test::offsets_of(lengths);
    const auto count = static_cast<std::size_t>(offsets.back());
    const Real scalar = is_float(type) ? 0.5L : 2;
    Row labels;
    for (const auto length : lengths)
        labels.push_back(static_cast<Real>(std::uniform_int_distribution<std::int64_t>(-1, length)(random)));
    std::map<std::string, std::size_t> places;
    Workload workload;
    workload.op = standard_operator(name, type);
    workload.segments = segments_from_offsets(test::index_array(offsets), static_cast<std::int64_t>(count));
    std::vector<std::size_t> columns;
    for (const auto& parameter : workload.op.parameters) {
        Row row;
        if (parameter.scalar)
            row = {is_float(parameter.type) ? scalar : 2};
        else if (parameter.name == "label")
            row = labels;
        else
            for (std::size_t i = 0; i < (parameter.table ? kLongest : count); ++i)
                row.push_back(parameter.type == Type::boolean ? static_cast<Real>(random() % 2) : next());
        if (parameter.name == "decay")  // so that nothing grows
            for (Real& v : row)
                v = std::isfinite(v) ? std::clamp(std::fmod(v, 3.0L), -1.0L, 1.0L) : v;
        for (std::size_t s = 0; parameter.name == "time" && s < lengths.size(); ++s) {
            std::ranges::replace_if(
                row, [](Real v) { return std::isnan(v); }, 1);
            std::sort(row.begin() + offsets[s], row.begin() + offsets[s + 1]);
        }
        if (!parameter.table)
            columns.push_back(workload.arrays.size());
        places[parameter.name] = workload.arrays.size();
        workload.arrays.push_back(array_of(parameter.type, row));
    }
    const auto table = [&](const std::string& called) {
        return places.contains(called) && workload.op.parameters[places[called]].table
                   ? row_of(workload.arrays[places[called]], 0, kLongest)
                   : Row();
    };
    const auto found = reduce_sequentially(workload, Precision::working);
    ASSERT_EQ(found.size(), 1u);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        const auto begin = static_cast<std::size_t>(offsets[s]),
                   end = static_cast<std::size_t>(offsets[s + 1]);
        Segment segment{row_of(workload.arrays[columns[0]], begin, end),
                        {},
                        table("weight"),
                        table("bias"),
                        scalar,
                        static_cast<std::int64_t>(labels[s]),
                        s};
        if (columns.size() == 2)
            segment.y = row_of(workload.arrays[columns[1]], begin, end);
        const Row wanted = meaning(segment);
        const bool is_output = !workload.op.outputs.empty();
        ASSERT_EQ(wanted.size(), is_output ? end - begin : 1);
        const Real tolerance = !is_float(type) ? 0 : type == Type::f64 ? 1e-11L : 2e-3L;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const Real value = value_of(found[0].array, is_output ? begin + i : s);
            const bool is_right =
                std::isnan(wanted[i]) ? std::isnan(value)
                : std::isinf(wanted[i])
                    ? value == wanted[i]
                    : std::fabs(value - wanted[i]) <= tolerance * std::max<Real>(1, std::fabs(wanted[i]));
            EXPECT_TRUE(is_right) << "segment " << s << " of " << end - begin << ", element " << i << ": "
                                  << value << " instead of " << wanted[i];
        }
    }
}

void expect_meanings(const std::map<std::string, Meaning>& meanings, Type type,
                     const std::function<Real(std::mt19937&)>& next)
{
    for (const auto& [name, meaning] : meanings) {
        std::mt19937 random(31);
        for (int round = 0; round < 3; ++round)
            expect_meaning(
                name, meaning, type, [&] { return next(random); }, random);
    }
}

Real near_zero(std::mt19937& random) { return std::normal_distribution<double>(0, 2)(random); }

TEST(StandardOutputs, OfReals)
{
    expect_meanings(kOfReals, Type::f64, near_zero);
    expect_meanings(kOfReals, Type::f64, [](auto& random) { return 1000 + near_zero(random) / 20; });
}

/// Sums are those of f32, and outputs are rounded once.
TEST(StandardOutputs, OfHalves)
{
    auto meanings = kOfReals;
    meanings.erase("drawdown");  // which has no sums, and rounds a difference of two halves
    expect_meanings(meanings, Type::f16, near_zero);
}

TEST(StandardOutputs, OfNumbers)
{
    const auto integer = [](std::mt19937& random) {
        return static_cast<Real>(std::uniform_int_distribution<int>(0, 40)(random));
    };
    for (const Type type : {Type::i8, Type::u8, Type::i32, Type::u64, Type::f64}) {
        auto meanings = kOfNumbers;
        if (size_bytes(type) == 1)
            meanings.erase("linear_recurrence");  // which wraps
        expect_meanings(meanings, type, integer);
    }
}

/// Infinities and NaN are what the definitions make of them.
TEST(StandardOutputs, OfWhatIsNoNumber)
{
    const auto edge = [](std::mt19937& random) {
        constexpr Real kValues[] = {0, 1, -2, 0.5L, 3, 8, -1, 2, kInf, -kInf, kNan};
        return kValues[random() % std::size(kValues)];
    };
    const auto often_missing = [](std::mt19937& random) {
        return random() % 3 == 0 ? near_zero(random) : kNan;
    };
    const auto below = [](std::mt19937& random) { return random() % 3 == 0 ? near_zero(random) : -kInf; };
    expect_meanings(kOfReals, Type::f64, edge);
    expect_meanings(kOfReals, Type::f64, often_missing);
    expect_meanings(kOfReals, Type::f64, below);
}

}  // namespace
}  // namespace segfold::standard_outputs_test
