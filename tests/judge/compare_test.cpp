// Judging: planted faults are found and printed, other orders of rounding are not faults.
#include "runtime/judge/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/resolve.h"
#include "runtime/judge/tolerance.h"
#include "tests/common/small_workloads.h"

namespace segfold::compare_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Results result_of(const Workload& workload, std::initializer_list<Array*> arrays)
{
    Results results;
    std::size_t f = 0;
    for (auto* array : arrays)
        results.push_back({workload.op.results.at(f++).name, array->copy()});
    return results;
}

Workload small_sums()
{
    return workload_of(standard_operator("sum_i32"), segments_from_offsets(indices({0, 3, 3, 4, 6}), 6),
                       array_of<std::int32_t>(Type::i32, {1, 2, 3, 4, 5, 6}));
}

TEST(Compare, ExactResultsAgreeBitForBit)
{
    const auto workload = small_sums();
    const auto comparison = compare(workload, reduce_sequentially(workload));
    EXPECT_TRUE(comparison.agrees());
    EXPECT_TRUE(comparison.bit_for_bit);
    EXPECT_EQ(print(comparison), "all 4 segments agree with the reference bit for bit");
}

/// Other orders have other results, and no rounding: they must not widen the bound.
TEST(Compare, WhereTheOperatorIsNotAssociativeOneOrderIsRight)
{
    const auto workload = workload_of(
        parse_operator("test",
                       "operator less(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a - b }"),
        whole_segments(8), array_of<float>(Type::f32, {100, 2, 3, 4, 5, 6, 7, 8}));
    auto in_order = array_of<float>(Type::f32, {65});
    auto as_a_tree = array_of<float>(Type::f32, {107});
    const Judge judge(workload, {.is_associative = false});
    EXPECT_TRUE(judge.compare(result_of(workload, {&in_order})).agrees());
    EXPECT_FALSE(judge.compare(result_of(workload, {&as_a_tree})).agrees());
    EXPECT_TRUE(Judge(workload).compare(result_of(workload, {&as_a_tree})).agrees());
}

TEST(Compare, PrintsTheFirstWrongSegmentWithItsElements)
{
    const auto workload = small_sums();
    auto wrong = array_of<std::int32_t>(Type::i32, {6, 1, 5, 12});
    const auto comparison = compare(workload, result_of(workload, {&wrong}));
    EXPECT_EQ(comparison.num_wrong, 3);
    EXPECT_EQ(print(comparison),
              "3 of 4 segments are wrong, the first one:\n"
              "segment 1 (empty, at element 3): result is 1, reference says 0");
    auto one_wrong = array_of<std::int32_t>(Type::i32, {6, 0, 4, 12});
    EXPECT_EQ(print(compare(workload, result_of(workload, {&one_wrong}))),
              "1 of 4 segments is wrong, the first one:\n"
              "segment 3 (elements 4 to 5, length 2): result is 12, reference says 11\n"
              "    x: 5, 6");
    auto single = array_of<std::int32_t>(Type::i32, {6, 0, 5, 11});
    EXPECT_EQ(print(compare(workload, result_of(workload, {&single}))),
              "1 of 4 segments is wrong, the first one:\n"
              "segment 2 (element 3, length 1): result is 5, reference says 4\n"
              "    x: 4");
}

TEST(Compare, AnyNanIsNanAndZerosHaveSigns)
{
    const auto workload = workload_of(standard_operator("keep_first_f32"), uniform_segments(2, 1),
                                      array_of<float>(Type::f32, {kNan, 0.0F}));
    auto other_nan = array_of<float>(Type::f32, {std::bit_cast<float>(0xffc12345U), 0.0F});
    EXPECT_TRUE(compare(workload, result_of(workload, {&other_nan})).agrees());
    auto negative_zero = array_of<float>(Type::f32, {kNan, -0.0F});
    EXPECT_EQ(print(compare(workload, result_of(workload, {&negative_zero}))),
              "1 of 2 segments is wrong, the first one:\n"
              "segment 1 (element 1, length 1): result is -0, reference says 0\n"
              "    x: 0");
}

TEST(Compare, RefusesResultsOfAnotherShape)
{
    const auto workload = small_sums();
    auto too_few = array_of<std::int32_t>(Type::i32, {6, 0, 4});
    try {
        compare(workload, result_of(workload, {&too_few}));
        FAIL() << "nothing was thrown";
    } catch (const InternalError& error) {
        EXPECT_STREQ(error.what(),
                     "internal error: the results do not have the fields, types and lengths of operator "
                     "sum's results");
    }
}

/// Sums segments as 32 lanes with stride 32 do, each lane left to right, the lanes as a tree.
Array striped_sums(const Workload& workload)
{
    Array sums(Type::f32, static_cast<std::size_t>(workload.segments.num_segments));
    const auto values = workload.arrays[0].as<float>();
    for (std::int64_t s = 0; s < workload.segments.num_segments; ++s) {
        float lanes[32] = {};
        for (std::int64_t i = workload.segments.begin(s); i < workload.segments.end(s); ++i)
            lanes[(i - workload.segments.begin(s)) % 32] += values[static_cast<std::size_t>(i)];
        for (int step = 16; step > 0; step /= 2)
            for (int lane = 0; lane < step; ++lane)
                lanes[lane] += lanes[lane + step];
        sums.as<float>()[static_cast<std::size_t>(s)] = lanes[0];
    }
    return sums;
}

/// Sums of tiles of 1024, left to right one after the other.
Array tiled_sums(const Workload& workload)
{
    Array sums(Type::f32, static_cast<std::size_t>(workload.segments.num_segments));
    const auto values = workload.arrays[0].as<float>();
    for (std::int64_t s = 0; s < workload.segments.num_segments; ++s) {
        float total = 0;
        for (std::int64_t i = workload.segments.begin(s); i < workload.segments.end(s);) {
            float tile = 0;
            const std::int64_t end = std::min(i + 1024, workload.segments.end(s));
            for (; i < end; ++i)
                tile += values[static_cast<std::size_t>(i)];
            total += tile;
        }
        sums.as<float>()[static_cast<std::size_t>(s)] = total;
    }
    return sums;
}

Workload random_sums(Segments segments, std::int64_t num_elements)
{
    return workload_of(standard_operator("sum_f32"), std::move(segments),
                       generate_values(Type::f32, num_elements, 3, ValueRange::uniform));
}

TEST(Compare, OtherOrdersOfAMillionCancellingValuesAgree)
{
    const auto workload = random_sums(whole_segments(1000000), 1000000);
    const Judge judge(workload);
    EXPECT_FALSE(judge.bit_for_bit());
    auto striped = striped_sums(workload);
    auto tiled = tiled_sums(workload);
    for (const auto& results : {result_of(workload, {&striped}), result_of(workload, {&tiled}),
                                reduce_sequentially(workload), judge.reference()}) {
        const auto comparison = judge.compare(results);
        EXPECT_TRUE(comparison.agrees()) << print(comparison);
    }
}

TEST(Compare, ADroppedElementOrAnErrorOfAThousandthIsRefused)
{
    auto workload = random_sums(whole_segments(1000000), 1000000);
    for (float& value : workload.arrays[0].as<float>())
        value = value + 1;  // in [0, 2): sum near 1e6, relative errors count
    const Judge judge(workload);
    auto sum = striped_sums(workload);
    ASSERT_TRUE(judge.compare(result_of(workload, {&sum})).agrees());
    auto off = sum.copy();
    off.as<float>()[0] *= 1.001F;
    EXPECT_FALSE(judge.compare(result_of(workload, {&off})).agrees());

    const auto cancelling = random_sums(uniform_segments(1000000, 20000), 1000000);
    auto dropped = striped_sums(cancelling);
    dropped.as<float>()[41] -= cancelling.arrays[0].as<float>()[41 * 20000 + 777];
    ASSERT_GT(std::fabs(cancelling.arrays[0].as<float>()[41 * 20000 + 777]), 0.1F);
    const auto comparison = compare(cancelling, result_of(cancelling, {&dropped}));
    EXPECT_EQ(comparison.num_wrong, 1);
    ASSERT_TRUE(comparison.first_wrong);
    EXPECT_EQ(comparison.first_wrong->segment, 41);
    EXPECT_LT(*comparison.first_wrong->fields[0].bound, 0.05);
}

TEST(Compare, ManySegmentsGiveNoFalseAlarm)
{
    const auto workload =
        random_sums(resolve(parse_layout("geometric:mean=20,seed=5"), 2000000).segments, 2000000);
    const Judge judge(workload);
    auto sums = striped_sums(workload);
    const auto comparison = judge.compare(result_of(workload, {&sums}));
    EXPECT_TRUE(comparison.agrees()) << print(comparison);
    ASSERT_TRUE(comparison.worst);
    EXPECT_LE(comparison.worst->ratio, 1);
    EXPECT_GT(comparison.worst->ratio, 0);
}

TEST(Compare, BoundsDoNotDependOnThreads)
{
    const auto workload =
        random_sums(resolve(parse_layout("zipf:exponent=1.9,seed=5"), 200000).segments, 200000);
    auto sums = tiled_sums(workload);
    sums.as<float>()[100] += 1;
    sums.as<float>()[17] += 1;
    const auto results = result_of(workload, {&sums});
    const auto text = print(compare(workload, results, {.threads = 1}));
    EXPECT_TRUE(text.starts_with("2 of ")) << text;
    EXPECT_NE(text.find("\nsegment 17 ("), std::string::npos) << text;
    EXPECT_EQ(print(compare(workload, results, {.threads = 4})), text);
}

TEST(Compare, PrintsBoundsAndTheWorstSegment)
{
    const auto workload =
        workload_of(standard_operator("mean_variance_f32"), segments_from_offsets(indices({0, 2, 4, 7}), 7),
                    array_of<float>(Type::f32, {1, 2, 3, 5, 1, 1, 4}));
    auto mean = array_of<float>(Type::f32, {1.5F, 4.25F, 2});
    auto variance = array_of<float>(Type::f32, {0.25F, 1, 3});
    const auto comparison = compare(workload, result_of(workload, {&mean, &variance}));
    EXPECT_EQ(comparison.num_wrong, 2);
    EXPECT_EQ(print(comparison),
              "2 of 3 segments are wrong, the first one:\n"
              "segment 1 (elements 2 to 3, length 2): mean is 4.25, reference says 4, bound 1.9e-06\n"
              "    x: 3, 5\n"
              "the worst one, off by 5.7e+05 times its bound:\n"
              "segment 2 (elements 4 to 6, length 3): variance is 3, reference says 2, bound 1.8e-06\n"
              "    x: 1, 1, 4");
}

TEST(Compare, ExactDataLeavesNothingToTheBound)
{
    // Sums of small integers never round, so no fold of them moves and the bound is 4 ulp.
    const auto workload = workload_of(standard_operator("sum_f32"), whole_segments(50000),
                                      generate_values(Type::f32, 50000, 3, ValueRange::small_integers));
    auto results = reduce_sequentially(workload);
    const float sum = results[0].array.as<float>()[0];
    results[0].array.as<float>()[0] = sum + 1;
    const auto comparison = compare(workload, results);
    ASSERT_TRUE(comparison.first_wrong);
    EXPECT_LE(*comparison.first_wrong->fields[0].bound, 5 * static_cast<double>(ulp(Type::f32, sum)));
    EXPECT_TRUE(compare(workload, reduce_sequentially(workload), {.bit_for_bit = true}).bit_for_bit);
}

TEST(Compare, OverflowInWorkingPrecisionIsAccepted)
{
    // In f16 the sum passes 65504 and comes back, unless the two halves are added first; from the right it
    // passes -65504.
    const std::uint16_t big = f32_to_f16(60000);
    const std::uint16_t negative = f32_to_f16(-60000);
    const auto workload = workload_of(standard_operator("sum_f16"), whole_segments(4),
                                      array_of<std::uint16_t>(Type::f16, {big, big, negative, negative}));
    for (const auto& [value, accepted] : {std::pair{kInf, true}, std::pair{0.0F, true}, std::pair{kNan, true},
                                          std::pair{-kInf, true}, std::pair{1000.0F, false}}) {
        auto sum = array_of<std::uint16_t>(Type::f16, {f32_to_f16(value)});
        EXPECT_EQ(compare(workload, result_of(workload, {&sum})).agrees(), accepted) << value;
    }
}

/// Where values overflow on the way, a result that the reference does not give is not said to agree.
TEST(Compare, SaysThatNothingCanBeSaidWhereValuesOverflow)
{
    const auto whole = workload_of(standard_operator("sum_f32"), whole_segments(3),
                                   array_of<float>(Type::f32, {3e38F, 3e38F, -3e38F}));
    const std::string why = "; values on the way overflow, or are undefined, in some order of combining";
    auto inf = array_of<float>(Type::f32, {kInf});
    auto finite = array_of<float>(Type::f32, {3e38F});
    const auto comparison = compare(whole, result_of(whole, {&inf}));
    EXPECT_TRUE(comparison.agrees());
    EXPECT_EQ(comparison.num_overflowed, 1);
    const std::string nothing = "nothing can be said of segment 0 (elements 0 to 2, length 3): ";
    EXPECT_EQ(print(comparison), nothing + "result is inf, reference says 3e+38" + why);
    EXPECT_EQ(print(compare(whole, result_of(whole, {&finite}))),
              "the segment agrees with the reference, each within 4 ulp");
    const Judge judge(whole);
    EXPECT_EQ(print(judge.compare(result_of(whole, {&inf}), result_of(whole, {&inf}), "thrust")),
              nothing + "result is inf, thrust says inf, reference says 3e+38" + why);
    EXPECT_EQ(print(judge.compare(result_of(whole, {&finite}), result_of(whole, {&inf}), "thrust")),
              nothing + "result is 3e+38, thrust says inf, reference says 3e+38" + why);
    const auto several =
        workload_of(standard_operator("sum_f32"), segments_from_offsets(indices({0, 2, 5, 8, 9}), 9),
                    array_of<float>(Type::f32, {1, 2, 3e38F, 3e38F, -3e38F, 3e38F, 3e38F, -3e38F, kInf}));
    auto sums = array_of<float>(Type::f32, {3, kInf, kNan, kInf});
    EXPECT_EQ(print(compare(several, result_of(several, {&sums}))),
              "2 of 4 segments agree with the reference, each within 4 ulp; nothing can be said of segment 1 "
              "(elements 2 to 4, length 3) and another one: result is inf, reference says 3e+38" +
                  why);
    sums = array_of<float>(Type::f32, {4, kInf, kNan, kInf});
    EXPECT_EQ(compare(several, result_of(several, {&sums})).num_wrong, 1);
}

/// The same of what a map gives for elements.
TEST(Compare, SaysThatNothingCanBeSaidOfOutputsThatOverflow)
{
    const auto op = parse_operator("shares.seg", R"(
        operator shares(x: f32) -> (sum: f32, each half: f32) {
          state s: f32 = 0
          lift x
          combine(a, b) a + b
          finish { sum = s }
          map { half = sum / 2 }
        })");
    const auto workload =
        workload_of(op, whole_segments(3), array_of<float>(Type::f32, {3e38F, 3e38F, -3e38F}));
    Results results;
    results.push_back({"sum", array_of<float>(Type::f32, {kInf})});
    results.push_back({"half", array_of<float>(Type::f32, {kInf, kInf, kInf})});
    const auto comparison = compare(workload, results);
    EXPECT_TRUE(comparison.agrees());
    EXPECT_EQ(comparison.num_overflowed, 1);
    EXPECT_TRUE(print(comparison).starts_with("nothing can be said of segment 0 ")) << print(comparison);
}

TEST(Compare, KindsOfNonFiniteMustAgree)
{
    const auto workload = workload_of(standard_operator("sum_f32"), uniform_segments(6, 2),
                                      array_of<float>(Type::f32, {kInf, 1, kInf, -kInf, 1, 2}));
    auto right = array_of<float>(Type::f32, {kInf, kNan, 3});
    EXPECT_EQ(print(compare(workload, result_of(workload, {&right}))),
              "all 3 segments agree with the reference, each within 4 ulp");
    auto wrong = array_of<float>(Type::f32, {-kInf, kInf, kInf});
    const auto comparison = compare(workload, result_of(workload, {&wrong}));
    EXPECT_EQ(comparison.num_wrong, 3);
    EXPECT_EQ(print(comparison),
              "3 of 3 segments are wrong, the first one:\n"
              "segment 0 (elements 0 to 1, length 2): result is -inf, reference says inf\n"
              "    x: inf, 1");
}

TEST(Compare, IntegersOfARoundingOperatorMustBeEqual)
{
    const auto op = parse_operator("two.seg", R"(
        operator sum_and_count(x: f32) -> (sum: f32, count: i64) {
          state   { sum: f32 = 0; count: i64 = 0 }
          lift    { sum = x; count = 1 }
          combine(a, b) { sum = a.sum + b.sum; count = a.count + b.count }
        })");
    const auto workload = workload_of(op, whole_segments(3), array_of<float>(Type::f32, {0.1F, 0.2F, 0.3F}));
    auto sum = array_of<float>(Type::f32, {0.6F});
    auto count = array_of<std::int64_t>(Type::i64, {3});
    EXPECT_TRUE(compare(workload, result_of(workload, {&sum, &count})).agrees());
    auto wrong_count = array_of<std::int64_t>(Type::i64, {2});
    EXPECT_EQ(print(compare(workload, result_of(workload, {&sum, &wrong_count}))),
              "the segment is wrong:\n"
              "segment 0 (elements 0 to 2, length 3): count is 2, reference says 3, bound 0\n"
              "    x: 0.1, 0.2, 0.3");
}

TEST(Compare, AgainstOtherResults)
{
    const auto exact = small_sums();
    const Judge exact_judge(exact);
    const auto right = reduce_sequentially(exact);
    auto wrong = array_of<std::int32_t>(Type::i32, {6, 0, 4, 12});
    EXPECT_EQ(print(exact_judge.compare(right, right, "thrust")),
              "all 4 segments agree with thrust bit for bit");
    EXPECT_EQ(print(exact_judge.compare(result_of(exact, {&wrong}), right, "thrust")),
              "1 of 4 segments is wrong, the first one:\n"
              "segment 3 (elements 4 to 5, length 2): result is 12, thrust says 11\n"
              "    x: 5, 6");

    const auto rounding =
        workload_of(standard_operator("sum_f32"), whole_segments(2), array_of<float>(Type::f32, {1, 1.5F}));
    const Judge judge(rounding);
    const auto sum = judge.reference();
    auto off = array_of<float>(Type::f32, {2.75F});
    const auto other = result_of(rounding, {&off});
    EXPECT_EQ(print(judge.compare(sum, sum, "thrust")),
              "the segment agrees with thrust, within bounds of the reference, each within 4 ulp");
    EXPECT_EQ(print(judge.compare(other, sum, "thrust")),
              "the segment is wrong:\n"
              "segment 0 (elements 0 to 1, length 2): result is 2.75, thrust says 2.5, reference says 2.5, "
              "bound 9.5e-07\n"
              "    x: 1, 1.5");
    EXPECT_EQ(print(judge.compare(sum, other, "thrust")),
              "thrust: the segment is wrong:\n"
              "segment 0 (elements 0 to 1, length 2): result is 2.75, reference says 2.5, bound 9.5e-07\n"
              "    x: 1, 1.5");
}

TEST(Compare, CancellationInsideTheOperatorWidensTheBound)
{
    // x * x - y * y: with a fused multiply-add a device loses other digits than the reference.
    const auto op = parse_operator("difference.seg", R"(
        operator difference(x: f32, y: f32) -> f32 {
          state   s: f32 = 0
          lift    x * x - y * y
          combine(a, b) a + b
        })");
    const auto x = generate_values(Type::f32, 1000, 1, ValueRange::uniform);
    Array y = x.copy();
    Array fused(Type::f32, 1000);
    for (std::size_t i = 0; i < 1000; ++i) {
        auto& near = y.as<float>()[i];
        near = std::nextafter(near, 2.0F);
        const float value = x.as<float>()[i];
        fused.as<float>()[i] = std::fma(value, value, -(near * near));
    }
    const auto workload = workload_of(op, uniform_segments(1000, 1), x.copy(), y.copy());
    const auto comparison = compare(workload, result_of(workload, {&fused}));
    EXPECT_TRUE(comparison.agrees()) << print(comparison);
}

/// Some folds of three elements are free of rounding; a GPU's fused multiply-add may still round.
TEST(Compare, AZeroThatRoundedElsewhereIsAccepted)
{
    constexpr std::int64_t kSegments = 2000;
    std::vector<float> values;
    for (std::int64_t s = 0; s < kSegments; ++s)
        values.insert(values.end(), {4, -5, 1});
    const auto workload =
        workload_of(standard_operator("mean_variance_f32"), uniform_segments(3 * kSegments, 3),
                    Array::of<float>(Type::f32, values));
    auto mean = Array::of<float>(Type::f32, std::vector<float>(kSegments, 1.4901161e-08f));
    auto variance = Array::of<float>(Type::f32, std::vector<float>(kSegments, 14));
    EXPECT_TRUE(compare(workload, result_of(workload, {&mean, &variance})).agrees());
}

/// A kernel's lanes fold runs of 16 elements that begin where 16 divides the place in the array, and join
/// them. Of products of integers up to 8 some cancel at such a place as at no other, and some become infinite
/// there.
TEST(Compare, RunsOfLanesThatCancelAreAccepted)
{
    constexpr std::int64_t kElements = 1 << 19, kRun = 16;
    const auto scales = generate_values(Type::f32, kElements, 11, ValueRange::small_integers);
    const auto shifts = generate_values(Type::f32, kElements, 12, ValueRange::small_integers);
    const auto workload = workload_of(standard_operator("affine_f32"),
                                      resolve(parse_layout("geometric:mean=32,seed=7"), kElements).segments,
                                      scales.copy(), shifts.copy());
    const auto num_segments = static_cast<std::size_t>(workload.segments.num_segments);
    Array scale(Type::f32, num_segments), shift(Type::f32, num_segments);
    for (std::size_t s = 0; s < num_segments; ++s) {
        float outer[2] = {1, 0};
        const std::int64_t end = workload.segments.end(static_cast<std::int64_t>(s));
        for (std::int64_t i = workload.segments.begin(static_cast<std::int64_t>(s)); i < end;) {
            float run[2] = {1, 0};
            const std::int64_t run_end = std::min(end, (i / kRun + 1) * kRun);
            for (; i < run_end; ++i) {
                const auto place = static_cast<std::size_t>(i);
                run[1] = scales.as<float>()[place] * run[1] + shifts.as<float>()[place];
                run[0] = scales.as<float>()[place] * run[0];
            }
            outer[1] = run[0] * outer[1] + run[1];
            outer[0] = run[0] * outer[0];
        }
        scale.as<float>()[s] = outer[0];
        shift.as<float>()[s] = outer[1];
    }
    const Judge judge(workload);
    const auto comparison = judge.compare(result_of(workload, {&scale, &shift}));
    EXPECT_TRUE(comparison.agrees()) << print(comparison);

    // Where nothing rounds, a result that is off by one is refused as before.
    std::size_t segment = 0;
    while (workload.segments.length(static_cast<std::int64_t>(segment)) != 5)
        ++segment;
    shift.as<float>()[segment] += 1;
    EXPECT_EQ(judge.compare(result_of(workload, {&scale, &shift})).num_wrong, 1);
}

TEST(Tolerance, UlpsOfAllTypes)
{
    EXPECT_EQ(ulp(Type::f32, 1), 0x1p-23L);
    EXPECT_EQ(ulp(Type::f32, -3), 0x1p-22L);
    EXPECT_EQ(ulp(Type::f32, 0), 0x1p-149L);
    EXPECT_EQ(ulp(Type::f32, 1e-45L), 0x1p-149L);
    EXPECT_EQ(ulp(Type::f16, 1), 0x1p-10L);
    EXPECT_EQ(ulp(Type::bf16, 1), 0x1p-7L);
    EXPECT_EQ(ulp(Type::f64, 1), 0x1p-52L);
    EXPECT_EQ(ulp(Type::i32, 5), 0);
}

}  // namespace
}  // namespace segfold::compare_test
