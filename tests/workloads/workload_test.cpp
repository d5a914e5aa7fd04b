#include "runtime/data/resolve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "dsl/half.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/generated/distribution.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/workload_request.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/random.h"
#include "tests/common/files.h"

namespace segfold::workload_test {
namespace {

using Integers = std::vector<std::int64_t>;

Segments generate(const std::string& layout, std::int64_t num_elements)
{
    return generate_segments(parse_layout(layout), num_elements);
}

Integers lengths_of(const Segments& segments)
{
    Integers lengths;
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        lengths.push_back(segments.length(s));
    return lengths;
}

double mean_of(const Segments& segments)
{
    return static_cast<double>(segments.num_elements) / static_cast<double>(segments.num_segments);
}

double share_of(const Segments& segments, std::int64_t length)
{
    return static_cast<double>(std::ranges::count(lengths_of(segments), length)) /
           static_cast<double>(segments.num_segments);
}

TEST(Distribution, EveryOneMakesValidSegments)
{
    for (const Distribution& distribution : distributions())
        for (const std::int64_t num_elements : {0, 1, 2, 3, 31, 1000, 300000}) {
            const Segments segments = generate(std::string(distribution.example), num_elements);
            EXPECT_EQ(segments.form, SegmentForm::offsets);
            EXPECT_EQ(segments.offsets.type(), Type::i32);
            const Segments checked = segments_from_offsets(segments.offsets.copy(), num_elements);
            EXPECT_EQ(checked.num_segments, segments.num_segments) << distribution.name;
            EXPECT_EQ(segments.num_segments == 0, num_elements == 0) << distribution.name;
        }
}

TEST(Distribution, MeansAndSharesAreAsStated)
{
    constexpr std::int64_t n = 1 << 22;
    EXPECT_NEAR(mean_of(generate("geometric:mean=32", n)), 32, 0.5);
    EXPECT_NEAR(share_of(generate("geometric:mean=4", n), 0), 0.2, 0.005);
    EXPECT_NEAR(share_of(generate("geometric:mean=4", n), 1), 0.16, 0.005);
    EXPECT_NEAR(mean_of(generate("poisson:mean=32", n)), 32, 0.1);
    EXPECT_NEAR(share_of(generate("poisson:mean=2", n), 0), std::exp(-2), 0.005);
    EXPECT_NEAR(mean_of(generate("half_empty:mean=32", n)), 32, 0.5);
    EXPECT_NEAR(share_of(generate("half_empty:mean=32", n), 0), 0.5, 0.005);
    const Segments two = generate("bimodal:short=2,long=100,share=0.25", n);
    EXPECT_NEAR(share_of(two, 100), 0.25, 0.005);
    EXPECT_NEAR(share_of(two, 2), 0.75, 0.005);
    // Lengths are rounded down, which takes half an element off the mean of exp(mean + sigma^2 / 2).
    EXPECT_NEAR(mean_of(generate("lognormal:mean=5,sigma=0.5", n)), std::exp(5.125) - 0.5, 1.5);
}

TEST(Distribution, ZipfFollowsItsPowerLaw)
{
    constexpr std::int64_t n = 1 << 22;
    for (const double exponent : {0.0, 1.0, 1.9, 3.0}) {
        const Segments segments = generate("zipf:exponent=" + std::to_string(exponent), n);
        std::map<std::int64_t, double> count;
        for (const std::int64_t length : lengths_of(segments))
            ++count[length];
        EXPECT_EQ(count.count(0), 0U);
        EXPECT_LE(count.rbegin()->first, n / 8);
        if (exponent >= 1.9) {
            EXPECT_NEAR(count[1] / count[2], std::pow(2, exponent), 0.1);
            EXPECT_NEAR(count[1] / count[3], std::pow(3, exponent), 0.5);
        }
    }
    // Flat up to an eighth of the elements: the mean is half of that.
    const Segments flat = generate("zipf:exponent=0", 8000);
    EXPECT_LT(flat.num_segments, 60);
}

TEST(Distribution, OneGiantAmongShortOnes)
{
    EXPECT_EQ(lengths_of(generate("giant:half", 32)), (Integers{4, 4, 16, 4, 4}));
    EXPECT_EQ(lengths_of(generate("giant:half,place=0", 32)), (Integers{16, 4, 4, 4, 4}));
    EXPECT_EQ(lengths_of(generate("giant:half,place=1,rest=3", 32)), (Integers{3, 3, 3, 3, 3, 16, 1}));
    EXPECT_EQ(lengths_of(generate("giant:half", 1)), (Integers{1}));
}

TEST(Distribution, RefusesWhatWouldNeverEnd)
{
    EXPECT_EQ(refusal([] { generate("bimodal:short=0,long=1,share=0.1", 100); }),
              "layout 'bimodal:long=1,share=0.1,short=0': the mean length is 0.1; it must be at least 0.25");
    EXPECT_EQ(refusal([] { generate("giant:half", std::int64_t{1} << 41); }),
              "layout 'giant:half': 2199023255552 elements; generated layouts have at most 1099511627776");
    EXPECT_EQ(refusal([] { generate("giant:half", -1); }),
              "the number of elements is -1; it must not be negative");
}

TEST(Distribution, DependsOnTheSeedAlone)
{
    constexpr std::int64_t n = 1 << 20;
    const Integers first = to_integers(generate("geometric:mean=8", n).offsets);
    EXPECT_EQ(to_integers(generate("geometric:mean=8,seed=7", n).offsets), first);
    EXPECT_NE(to_integers(generate("geometric:mean=8,seed=8", n).offsets), first);

    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Integers alone = to_integers(generate("geometric:mean=8", n).offsets);
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(alone, first);
}

TEST(Distribution, FirstLengthsStayAsTheyAre)
{
    const auto first = [](const std::string& layout) {
        Integers lengths = lengths_of(generate(layout, 1 << 16));
        lengths.resize(6);
        return lengths;
    };
    EXPECT_EQ(first("geometric:mean=32"), (Integers{30, 5, 132, 16, 6, 21}));
    EXPECT_EQ(first("poisson:mean=32"), (Integers{29, 37, 35, 34, 32, 26}));
    EXPECT_EQ(first("zipf:exponent=1.9"), (Integers{1, 4, 1, 2, 4, 1}));
    EXPECT_EQ(first("lognormal:mean=3,sigma=1.2"), (Integers{142, 13, 2, 10, 27, 168}));
}

TEST(Random, IsSplitMix64)
{
    // The first outputs for seed 1234567 of the authors' program.
    RandomSequence sequence(1234567);
    EXPECT_EQ(sequence(), 6457827717110365317U);
    EXPECT_EQ(sequence(), 3203168211198807973U);
    EXPECT_EQ(RandomSequence(1234567).at(1), 3203168211198807973U);
    EXPECT_NE(RandomSequence::derive_seed(1, 2), RandomSequence::derive_seed(2, 1));
}

/// Any element as a double.
double value_at(const Array& array, std::size_t i)
{
    switch (array.type()) {
        case Type::boolean: return array.as<bool>()[i];
        case Type::i8: return array.as<std::int8_t>()[i];
        case Type::i16: return array.as<std::int16_t>()[i];
        case Type::i32: return array.as<std::int32_t>()[i];
        case Type::i64: return static_cast<double>(array.as<std::int64_t>()[i]);
        case Type::u8: return array.as<std::uint8_t>()[i];
        case Type::u16: return array.as<std::uint16_t>()[i];
        case Type::u32: return array.as<std::uint32_t>()[i];
        case Type::u64: return static_cast<double>(array.as<std::uint64_t>()[i]);
        case Type::f16: return f16_to_f32(array.as<std::uint16_t>()[i]);
        case Type::bf16: return bf16_to_f32(array.as<std::uint16_t>()[i]);
        case Type::f32: return array.as<float>()[i];
        case Type::f64: return array.as<double>()[i];
    }
    return 0;
}

TEST(Values, SmallIntegersAreAllOfTheRange)
{
    for (const Type type : kTypes) {
        const Array values = generate_values(type, 10000, 3, ValueRange::small_integers);
        std::set<double> seen;
        for (std::size_t i = 0; i < values.length(); ++i)
            seen.insert(value_at(values, i));
        const bool is_boolean = type == Type::boolean, is_unsigned = is_unsigned_integer(type);
        EXPECT_EQ(seen.size(), is_boolean ? 2U : is_unsigned ? 16U : 17U) << name(type);
        EXPECT_EQ(*seen.begin(), is_boolean || is_unsigned ? 0 : -8) << name(type);
        EXPECT_EQ(*seen.rbegin(), is_boolean ? 1 : is_unsigned ? 15 : 8) << name(type);
        for (const double value : seen)
            EXPECT_EQ(value, std::floor(value));
    }
}

TEST(Values, SmallIntegersAreTheSameInEverySignedType)
{
    const Array floats = generate_values(Type::f32, 1000, 3, ValueRange::small_integers);
    const Array integers = generate_values(Type::i8, 1000, 3, ValueRange::small_integers);
    for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(value_at(floats, i), value_at(integers, i));
}

TEST(Values, UnitsAreAllThree)
{
    for (const Type type : kTypes) {
        const Array values = generate_values(type, 10000, 3, ValueRange::units);
        std::map<double, int> seen;
        for (std::size_t i = 0; i < values.length(); ++i)
            ++seen[value_at(values, i)];
        const bool is_signed = type != Type::boolean && !is_unsigned_integer(type);
        EXPECT_EQ(seen.size(), is_signed ? 3U : 2U) << name(type);
        EXPECT_EQ(seen.begin()->first, is_signed ? -1 : 0) << name(type);
        EXPECT_EQ(seen.rbegin()->first, 1) << name(type);
        for (const auto& [value, count] : seen)
            EXPECT_NEAR(count, 10000 / static_cast<int>(seen.size()), 250) << name(type) << ' ' << value;
    }
}

TEST(Values, ProductsOfThoseNearOneStayNearOne)
{
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
        const Array values = generate_values(type, 10000, 3, ValueRange::near_one);
        std::set<double> seen;
        double product = 1;
        for (std::size_t i = 0; i < values.length(); ++i) {
            seen.insert(value_at(values, i));
            product *= value_at(values, i);
            ASSERT_TRUE(std::fabs(product) >= 0.5 && std::fabs(product) <= 2) << name(type) << ' ' << i;
        }
        EXPECT_EQ(seen, (std::set<double>{-2, -1, -0.5, 0.5, 1, 2})) << name(type);
    }
    const Array integers = generate_values(Type::i8, 10000, 3, ValueRange::near_one);
    for (std::size_t i = 0; i < integers.length(); ++i)
        ASSERT_EQ(std::fabs(value_at(integers, i)), 1);
}

TEST(Values, ChecksDrawThoseThatSuitTheOperator)
{
    const auto of = [](const char* name, Type type) {
        return cli::suiting_values(standard_operator(name, type));
    };
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
        EXPECT_EQ(of("product", type), ValueRange::near_one) << name(type);
        EXPECT_EQ(of("affine", type), ValueRange::near_one) << name(type);
        EXPECT_EQ(of("sum", type), ValueRange::small_integers) << name(type);
        EXPECT_EQ(of("log_sum_exp", type), ValueRange::small_integers) << name(type);
    }
    EXPECT_EQ(of("product", Type::i32), ValueRange::small_integers);
}

TEST(Values, PlansAreComparedOverThoseOnWhichTheyAgree)
{
    const auto of = [](const char* name, std::optional<Type> type = {}) {
        return cli::agreeing_values(standard_operator(name, type));
    };
    EXPECT_EQ(of("sum", Type::f32), ValueRange::uniform);
    EXPECT_EQ(of("sum", Type::i32), ValueRange::small_integers);
    EXPECT_EQ(of("sum", Type::f16), ValueRange::units);
    EXPECT_EQ(of("dot", Type::bf16), ValueRange::units);
    EXPECT_EQ(of("max", Type::f16), ValueRange::uniform) << "a maximum of units shows nothing";
    EXPECT_EQ(of("count"), ValueRange::uniform) << "without columns any will do";
    const auto parsed = [](const std::string& parameters, const std::string& lift) {
        return cli::agreeing_values(parse_operator("test.seg", "operator o(" + parameters +
                                                                   ") -> f32 { state s: f32 = 0 lift " +
                                                                   lift + " combine(a, b) a + b }"));
    };
    EXPECT_EQ(parsed("x: f32, y: f16", "x * f32(y)"), ValueRange::units);
    EXPECT_EQ(parsed("x: f32, y: i32", "x * f32(y)"), ValueRange::small_integers);
    EXPECT_EQ(parsed("x: f32, t: table f32", "t[i32(x)]"), ValueRange::small_integers);
}

TEST(Values, UniformOnesFillTheirRange)
{
    for (const Type type : kTypes) {
        const Array values = generate_values(type, 100000, 3, ValueRange::uniform);
        double least = 1e300, most = -1e300, sum = 0;
        for (std::size_t i = 0; i < values.length(); ++i) {
            const double value = value_at(values, i);
            least = std::min(least, value);
            most = std::max(most, value);
            sum += value / 100000;
        }
        const int bits = static_cast<int>(8 * size_bytes(type));
        const double low = is_float(type) ? -1 : is_signed_integer(type) ? -std::ldexp(1, bits - 1) : 0;
        const double high = is_float(type)            ? 1
                            : type == Type::boolean   ? 1.0
                            : is_signed_integer(type) ? std::ldexp(1, bits - 1)
                                                      : std::ldexp(1, bits);
        const double width = high - low;
        EXPECT_GE(least, low) << name(type);
        EXPECT_LE(most, high) << name(type);
        EXPECT_LT(least, low + 0.001 * width) << name(type);
        EXPECT_GT(most, high - 0.01 * width) << name(type);
        EXPECT_NEAR(sum, (low + high) / 2, 0.01 * width) << name(type);
        if (is_float(type)) {
            EXPECT_LT(most, 1) << name(type);
        }
    }
}

TEST(Values, EdgeOnesHoldEveryEdge)
{
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
        const Array values = generate_values(type, 10000, 3, ValueRange::edge);
        std::size_t nans = 0, infinities = 0, negative_zeros = 0, ones = 0, huge = 0, plain = 0;
        for (std::size_t i = 0; i < values.length(); ++i) {
            const double value = value_at(values, i);
            nans += std::isnan(value);
            infinities += std::isinf(value);
            negative_zeros += value == 0 && std::signbit(value);
            ones += std::fabs(value) == 1;
            huge += std::isfinite(value) && std::fabs(value) > 60000;
            plain += std::fabs(value) < 1;
        }
        EXPECT_GT(nans, 80U) << name(type);
        EXPECT_GT(infinities, 160U) << name(type);
        EXPECT_GT(negative_zeros, 80U) << name(type);
        EXPECT_GT(ones, 160U) << name(type);
        EXPECT_GT(huge, 160U) << name(type);
        EXPECT_GT(plain, 7400U) << name(type);
    }
    const Array floats = generate_values(Type::f32, 10000, 3, ValueRange::edge);
    std::set<std::uint32_t> bits;
    for (const float value : floats.as<float>())
        bits.insert(std::bit_cast<std::uint32_t>(value));
    for (const float edge : {0.0F, 0x1p-149F, 0x1p-126F, 0x1.fffffcp-127F, 0x1p-23F, 1.0F, 0x1.fffffep127F})
        EXPECT_TRUE(bits.contains(std::bit_cast<std::uint32_t>(edge))) << edge;

    const Array integers = generate_values(Type::i32, 10000, 3, ValueRange::edge);
    const std::set<std::int32_t> seen(integers.as<std::int32_t>().begin(), integers.as<std::int32_t>().end());
    for (const std::int32_t edge : {0, 1, 2, -1, -2, INT32_MIN, INT32_MAX, INT32_MIN + 1})
        EXPECT_TRUE(seen.contains(edge)) << edge;
}

TEST(Values, DependOnSeedAndPlaceAlone)
{
    const Array few = generate_values(Type::i32, 1000, 5, ValueRange::uniform);
    const Array many = generate_values(Type::i32, 1 << 20, 5, ValueRange::uniform);
    EXPECT_TRUE(std::ranges::equal(few.as<std::int32_t>(), many.as<std::int32_t>().first(1000)));
    const Array other = generate_values(Type::i32, 1000, 6, ValueRange::uniform);
    EXPECT_FALSE(std::ranges::equal(few.as<std::int32_t>(), other.as<std::int32_t>()));
    EXPECT_EQ(generate_values(Type::f64, 0, 5, ValueRange::edge).length(), 0U);
    EXPECT_EQ(refusal([] { generate_values(Type::i8, -1, 5, ValueRange::edge); }),
              "the number of values is -1; it must not be negative");
}

TEST(Resolve, StatedLayouts)
{
    EXPECT_EQ(resolve(parse_layout("whole"), 5).segments.num_segments, 1);
    EXPECT_EQ(resolve(parse_layout("uniform=5"), 15).segments.num_segments, 3);
    EXPECT_EQ(resolve(parse_layout("poisson:mean=3"), 15).segments.num_elements, 15);
    EXPECT_EQ(
        refusal([] { resolve(parse_layout("uniform=5"), {}); }),
        "layout 'uniform=5' does not say how many elements there are; give their number or the elements");
}

TEST(Resolve, FilesSayHowManyElementsThereAre)
{
    const TemporaryFolder folder;
    const auto resolved = [&](const std::string& kind, std::initializer_list<std::int64_t> values) {
        const std::string path = folder.file("a.npy");
        write_npy(path, make_array<std::int64_t>(Type::i64, values));
        return resolve(parse_layout(kind + "=" + path), {}).segments;
    };
    EXPECT_EQ(resolved("offsets", {0, 2, 7}).num_elements, 7);
    EXPECT_EQ(resolved("lengths", {2, 5, 0}).num_elements, 7);
    EXPECT_EQ(resolved("flags", {1, 0, 1}).num_elements, 3);
    EXPECT_EQ(resolved("keys", {4, 4, 5, 4}).num_elements, 4);
    EXPECT_EQ(resolved("keys", {4, 4, 5, 4}).keys->as<std::int64_t>()[1], 5);
    EXPECT_EQ(refusal(
                  [&] {
                      resolved("offsets", {0, -2});
                  },
                  folder.file("a.npy")),
              ": offsets decrease at segment 0: -2 after 0; offsets must be non-decreasing");
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(
        refusal(
            [&] {
                resolved("lengths", {most, most});
            },
            folder.file("a.npy")),
        ": the sum of the lengths overflows 64 bits at segment 1: its length is 9223372036854775807 after "
        "9223372036854775807 elements; lengths must add up to 9223372036854775807 at most");
}

TEST(Resolve, RangesFromAnArchive)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    std::vector<NamedArray> arrays;
    arrays.push_back({"begins", make_array<std::int32_t>(Type::i32, {4, 0})});
    arrays.push_back({"ends", make_array<std::int32_t>(Type::i32, {9, 3})});
    write_npz(path, arrays);
    const Layout layout = parse_layout("ranges=" + path + ":begins," + path + ":ends");
    EXPECT_EQ(resolve(layout, {}).segments.num_elements, 9);
    EXPECT_EQ(resolve(layout, 20).segments.end(1), 3);
    EXPECT_EQ(refusal([&] { resolve(layout, 5); }),
              path + ":begins, " + path +
                  ":ends: range 0 ends at 9, outside of the data; it must be "
                  "from 0 to 5, the number of elements");
}

TEST(Resolve, RowsBringTheirColumns)
{
    const TemporaryFolder folder;
    const std::string path = folder.write(
        "a.mtx", "%%MatrixMarket matrix coordinate integer general\n3 9 3\n3 9 4\n1 2 5\n3 1 6\n");
    const ResolvedLayout resolved = resolve(parse_layout("rows=" + path), {}, Type::i64);
    EXPECT_EQ(to_integers(resolved.segments.offsets), (Integers{0, 1, 1, 3}));
    EXPECT_EQ(resolved.segments.index_bits(), 32);
    ASSERT_EQ(resolved.columns.size(), 2U);
    EXPECT_EQ(resolved.columns[0].name, "value");
    EXPECT_EQ(to_integers(resolved.columns[0].array), (Integers{5, 4, 6}));
    EXPECT_EQ(resolved.columns[1].name, "column");
    EXPECT_EQ(to_integers(resolved.columns[1].array), (Integers{1, 8, 0}));
    EXPECT_EQ(refusal([&] { resolve(parse_layout("rows=" + path), 4); }, path),
              ": the matrix has 3 entries but there are 4 elements; they must agree");
}

/// 2^62 numbers have no number of bytes in 64 bits.
TEST(GenerateValues, MoreThanMemoryAreRefused)
{
    EXPECT_EQ(refusal([] { generate_values(Type::i32, std::int64_t{1} << 62, 7, ValueRange::units); }),
              "an array of 4611686018427387904 values of i32 has more bytes than 64 bits count; take fewer "
              "elements");
    const auto op = parse_operator("test",
                                   "operator o(x: f64, t: table row f32) -> f32 {\n  state s: f32 = 0\n"
                                   "  lift t[index]\n  combine(a, b) a + b\n}");
    std::map<std::string, Array> arrays;
    const auto refused = refusal([&] {
        complete_arrays(op, whole_segments(std::int64_t{1} << 62), {.num_features = 1 << 20}, arrays);
    });
    EXPECT_TRUE(refused.starts_with("4611686018427387904 rows of 1048576 numbers of f32 for 't' need "))
        << refused;
}

/// The columns fit, the results do not.
TEST(MakeWorkload, ResultsBeyondMemoryAreRefused)
{
    const auto op = parse_operator("test",
                                   "operator o(x: bool) -> (a: f64, b: f64) {\n  state s: f64 = 0\n"
                                   "  lift f64(x)\n  combine(a, b) a + b\n  finish { a = s; b = s }\n}");
    const auto half = static_cast<std::int64_t>(memory_at_hand() / 2);
    const auto refused =
        refusal([&] { make_workload(op, {.layout = parse_layout("uniform=1"), .num_elements = half}); });
    EXPECT_TRUE(refused.starts_with(fmt::format(
        "layout 'uniform=1': {0} elements of 1 byte each and {0} results of 16 bytes each need ", half)))
        << refused;
}

TEST(Resolve, FlightsByAircraft)
{
    const std::string folder = std::string(SEGFOLD_SOURCE_DIR) + "/tests/data/flights/";
    const Array delays = read_array_as(folder + "departure_delay.npy", Type::f32);
    const auto num_flights = static_cast<std::int64_t>(delays.length());
    const Segments by_offsets =
        resolve(parse_layout("offsets=" + folder + "offsets.npy"), num_flights).segments;
    const Segments by_keys =
        resolve(parse_layout("keys=" + folder + "flights.npz:aircraft"), num_flights).segments;
    EXPECT_EQ(by_offsets.num_segments, 4037);
    EXPECT_EQ(to_integers(by_keys.offsets), to_integers(by_offsets.offsets));
    const Integers lengths = lengths_of(by_offsets);
    EXPECT_EQ(std::ranges::max(lengths), 544);
    EXPECT_EQ(std::ranges::count(lengths, 1), 168);
    double sum = 0;
    for (const float delay : delays.as<float>())
        sum += delay;
    EXPECT_EQ(sum, 4109880);
    const std::string aircraft = read_text(folder + "aircraft.txt");
    EXPECT_EQ(std::ranges::count(aircraft, '\n'), by_offsets.num_segments);
}

}  // namespace
}  // namespace segfold::workload_test
