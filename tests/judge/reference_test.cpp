// The reference against results worked out by hand, and against small folds written out in C++.
#include "runtime/judge/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dsl/half.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/resolve.h"
#include "runtime/judge/compare.h"
#include "runtime/support/processes/segment_blocks.h"
#include "tests/common/message_of.h"
#include "tests/common/small_workloads.h"

namespace segfold::reference_test {
namespace {

template <class T>
using List = std::vector<T>;

TEST(Reference, SumsWithEmptySegmentsAtEndsAndMiddle)
{
    const auto workload =
        workload_of(standard_operator("sum_i32"), segments_from_offsets(indices({0, 0, 2, 2, 2, 5, 5}), 5),
                    array_of<std::int32_t>(Type::i32, {1, 2, 3, 4, 5}));
    const auto results = reduce_sequentially(workload);
    EXPECT_EQ(results.at(0).name, "result");
    EXPECT_EQ(values_of<std::int32_t>(results), (List<std::int32_t>{0, 3, 0, 0, 12, 0}));
}

TEST(Reference, IntegersWrap)
{
    const auto workload = workload_of(standard_operator("sum_i32"), whole_segments(2),
                                      array_of<std::int32_t>(Type::i32, {2147483647, 1}));
    EXPECT_EQ(values_of<std::int32_t>(reduce_sequentially(workload)), (List<std::int32_t>{-2147483647 - 1}));
}

TEST(Reference, ComposesAffineMapsEarlierFirst)
{
    // v -> 2v + 1, then 3v + 5, then 1v + 7: 6v + 15.
    const auto workload = workload_of(standard_operator("affine_u32"), whole_segments(3),
                                      array_of<std::uint32_t>(Type::u32, {2, 3, 1}),
                                      array_of<std::uint32_t>(Type::u32, {1, 5, 7}));
    const auto results = reduce_sequentially(workload);
    EXPECT_EQ(values_of<std::uint32_t>(results, 0), (List<std::uint32_t>{6}));
    EXPECT_EQ(values_of<std::uint32_t>(results, 1), (List<std::uint32_t>{15}));
}

TEST(Reference, KeepFirstOverOverlappingRangesInAnyOrder)
{
    const auto workload = workload_of(standard_operator("keep_first_i32"),
                                      segments_from_ranges(indices({3, 0, 1}), indices({5, 4, 2}), 5),
                                      array_of<std::int32_t>(Type::i32, {10, 11, 12, 13, 14}));
    EXPECT_EQ(values_of<std::int32_t>(reduce_sequentially(workload)), (List<std::int32_t>{13, 10, 11}));
}

TEST(Reference, MaximumSubarrayByHand)
{
    // 3 4 -1 2 inside, and 5 alone beside -9.
    const auto workload =
        workload_of(standard_operator("max_subarray_i32"), segments_from_offsets(indices({0, 6, 8}), 8),
                    array_of<std::int32_t>(Type::i32, {-2, 3, 4, -1, 2, -6, -9, 5}));
    EXPECT_EQ(values_of<std::int64_t>(reduce_sequentially(workload)), (List<std::int64_t>{8, 5}));
}

TEST(Reference, MeanAndVarianceByHand)
{
    const auto workload =
        workload_of(standard_operator("mean_variance_f32"), segments_from_offsets(indices({0, 4, 4, 5}), 5),
                    array_of<float>(Type::f32, {1, 2, 3, 6, 9}));
    const auto results = reduce_sequentially(workload);
    EXPECT_EQ(results.at(0).name, "mean");
    EXPECT_EQ(results.at(1).name, "variance");
    const auto mean = values_of<float>(results, 0);
    const auto variance = values_of<float>(results, 1);
    EXPECT_FLOAT_EQ(mean[0], 3);
    EXPECT_FLOAT_EQ(variance[0], 3.5F);
    EXPECT_TRUE(std::isnan(mean[1]) && std::isnan(variance[1]));
    EXPECT_EQ(mean[2], 9);
    EXPECT_EQ(variance[2], 0);
}

TEST(Reference, KnowsIndexPositionSegmentAndLength)
{
    const auto op = parse_operator("places.seg", R"(
        operator places(x: i32) -> (indices: i64, positions: i64, segments: i64, length: i64) {
          state   { i: i64 = 0; p: i64 = 0; s: i64 = 0 }
          lift    { i = index; p = position; s = segment }
          combine(a, b) { i = a.i * 10 + b.i; p = a.p * 10 + b.p; s = a.s * 10 + b.s }
          finish  { indices = i; positions = p; segments = s + 1000 * segment; length = length }
        })");
    const auto workload = workload_of(op, segments_from_offsets(indices({0, 0, 3, 5}), 5),
                                      array_of<std::int32_t>(Type::i32, {0, 0, 0, 0, 0}));
    const auto results = reduce_sequentially(workload);
    EXPECT_EQ(values_of<std::int64_t>(results, 0), (List<std::int64_t>{0, 12, 34}));
    EXPECT_EQ(values_of<std::int64_t>(results, 1), (List<std::int64_t>{0, 12, 1}));
    EXPECT_EQ(values_of<std::int64_t>(results, 2), (List<std::int64_t>{0, 1111, 2022}));
    EXPECT_EQ(values_of<std::int64_t>(results, 3), (List<std::int64_t>{0, 3, 2}));
}

Operator gathering_operator()
{
    return parse_operator("gather.seg", R"(
        operator weigh(scale: table i32, column: i32, bias: table i32, value: i32) -> i32 {
          state   sum: i32 = 0
          lift    value * scale[column] + bias[column]
          combine(a, b) a + b
        })");
}

TEST(Reference, ReadsTablesInTheOrderOfTheParameters)
{
    const auto workload = workload_of(
        gathering_operator(), uniform_segments(4, 2), array_of<std::int32_t>(Type::i32, {10, 20, 30}),
        array_of<std::int32_t>(Type::i32, {2, 0, 1, 1}), array_of<std::int32_t>(Type::i32, {1, 2, 3}),
        array_of<std::int32_t>(Type::i32, {1, 2, 3, 4}));
    // 1*30+3 + 2*10+1, 3*20+2 + 4*20+2
    EXPECT_EQ(values_of<std::int32_t>(reduce_sequentially(workload)), (List<std::int32_t>{54, 144}));
}

std::string message_of(const Workload& workload)
{
    return test::message_of<InputError>([&] { reduce_sequentially(workload); });
}

TEST(Reference, RefusesReadsOutsideOfATable)
{
    const auto workload = workload_of(
        gathering_operator(), uniform_segments(4, 1), array_of<std::int32_t>(Type::i32, {10, 20, 30}),
        array_of<std::int32_t>(Type::i32, {2, 3, -1, 1}), array_of<std::int32_t>(Type::i32, {1, 2, 3}),
        array_of<std::int32_t>(Type::i32, {1, 2, 3, 4}));
    // Two segments are at fault; the earlier one is named with any number of threads.
    for (int repeat = 0; repeat < 20; ++repeat)
        ASSERT_EQ(message_of(workload),
                  "table 'scale' has 3 entries; element 1 reads scale[3], and indices run from 0 to 2");
}

TEST(Reference, RefusesAnEmptySegmentOfASemigroup)
{
    const auto workload =
        workload_of(standard_operator("keep_first_i32"), segments_from_offsets(indices({0, 2, 2, 3}), 3),
                    array_of<std::int32_t>(Type::i32, {1, 2, 3}));
    EXPECT_EQ(message_of(workload),
              "segment 1 is empty, and operator keep_first has no identity; give its state fields an "
              "identity (= VALUE), "
              "or an 'empty' part");
}

TEST(Reference, NoSegmentsAndNoElements)
{
    const auto no_segments = workload_of(standard_operator("sum_i32"), segments_from_offsets(indices({0}), 0),
                                         Array(Type::i32, 0));
    EXPECT_EQ(reduce_sequentially(no_segments).at(0).array.length(), 0U);
    EXPECT_EQ(reduce_widely(no_segments).at(0).values.size(), 0U);
    const auto no_elements =
        workload_of(standard_operator("sum_i32"), whole_segments(0), Array(Type::i32, 0));
    EXPECT_EQ(values_of<std::int32_t>(reduce_sequentially(no_elements)), (List<std::int32_t>{0}));
}

TEST(Reference, WorkingPrecisionRoundsAndWideDoesNot)
{
    // 2^24 + 1 + 1 stays at 2^24 in f32.
    const auto workload = workload_of(standard_operator("sum_f32"), whole_segments(3),
                                      array_of<float>(Type::f32, {16777216, 1, 1}));
    EXPECT_EQ(values_of<float>(reduce_sequentially(workload)), (List<float>{16777216}));
    EXPECT_EQ(values_of<float>(reduce_sequentially(workload, Precision::wide)), (List<float>{16777218}));
    const auto wide = reduce_widely(workload);
    EXPECT_EQ(wide.at(0).name, "result");
    EXPECT_EQ(wide.at(0).type, Type::f32);
    EXPECT_EQ(wide.at(0).values.at(0).real, 16777218.0L);
}

/// Added up in order in f32, the mean of a long ramp from 300 to 301 would be far from its middle.
TEST(Reference, TheRightAnswerOfWhatRoundsIsWide)
{
    constexpr std::int64_t kElements = 1 << 20;
    Array ramp(Type::f32, kElements);
    for (std::size_t i = 0; i < kElements; ++i)
        ramp.as<float>()[i] = 300 + static_cast<float>(i) / static_cast<float>(kElements - 1);
    const auto op = parse_operator("mean.seg", R"(
        operator mean(x: f32) -> f32 {
          state { n: i64 = 0; s: f32 = 0 }
          lift { n = 1; s = x }
          combine(a, b) { n = a.n + b.n; s = a.s + b.s }
          finish s / f32(n)
        })");
    const auto workload = workload_of(op, whole_segments(kElements), ramp.copy());
    EXPECT_NEAR(values_of<float>(right_results(workload)).at(0), 300.5F, 1e-4);
    EXPECT_GT(std::fabs(values_of<float>(reduce_sequentially(workload)).at(0) - 300.5F), 1e-3);
    EXPECT_EQ(precision_of_reference(op), Precision::wide);

    const auto sum = standard_operator("sum_i32");
    EXPECT_EQ(precision_of_reference(sum), Precision::working);
    EXPECT_EQ(values_of<std::int32_t>(right_results(
                  workload_of(sum, whole_segments(2), array_of<std::int32_t>(Type::i32, {1, 2})))),
              (List<std::int32_t>{3}));
}

/// What lift decides, it decides by the values of its types: 7 times 0.1 is 0.7 in f32 and more in long
/// double, ten times 0.7 is 7 and less. What it adds up is not rounded.
TEST(Reference, WidePrecisionDecidesAsTheTypesDo)
{
    const auto op = parse_operator("decide.seg", R"(
        operator decide(x: f32) -> (above: i64, literal: i64, step: i64, floors: f32, halves: f32, sum: f32) {
          state { above: i64 = 0; literal: i64 = 0; step: i64 = 0; floors: f32 = 0; halves: f32 = 0; sum: f32 = 0 }
          lift {
            above = i64(x * 0.1 > 0.7);
            literal = i64(x > 0.1);
            step = i64(x * 10);
            floors = x > 1 ? 0 : floor(x * 10);
            halves = f32(f16(x));
            sum = x * 0.1
          }
          combine(a, b) {
            above = a.above + b.above; literal = a.literal + b.literal; step = a.step + b.step;
            floors = a.floors + b.floors; halves = a.halves + b.halves; sum = a.sum + b.sum
          }
        })");
    const auto workload = workload_of(op, segments_from_offsets(indices({0, 1, 2, 3}), 3),
                                      array_of<float>(Type::f32, {7, 0.1F, 0.7F}));
    const auto right = right_results(workload);
    const auto working = reduce_sequentially(workload);
    EXPECT_EQ(values_of<std::int64_t>(right, 0), (List<std::int64_t>{0, 0, 0}));
    EXPECT_EQ(values_of<std::int64_t>(right, 1), (List<std::int64_t>{1, 0, 1}));
    EXPECT_EQ(values_of<std::int64_t>(right, 2), (List<std::int64_t>{70, 1, 7}));
    EXPECT_EQ(values_of<float>(right, 3), (List<float>{0, 1, 7}));
    for (std::size_t f = 0; f < 5; ++f)
        for (std::int64_t s = 0; s < 3; ++s)
            EXPECT_TRUE(same_bits(right[f].array, working[f].array, s)) << "field " << f << ", segment " << s;
    const auto wide = reduce_widely(workload);
    EXPECT_EQ(wide[4].values[1].real, static_cast<long double>(f16_to_f32(f32_to_f16(0.1F))));
    EXPECT_EQ(wide[5].values[0].real, 7 * static_cast<long double>(0.1F));
}

/// Where combine is not associative, parts would have another result.
TEST(Reference, FoldsInOrderWhereTheOperatorIsNotAssociative)
{
    constexpr std::int64_t kElements = (std::int64_t{1} << 20) + 3;
    const auto op = parse_operator(
        "less.seg", "operator less(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a - b }");
    Array ones(Type::f32, kElements);
    std::ranges::fill(ones.as<float>(), 1.0F);
    const auto workload = workload_of(op, whole_segments(kElements), ones.copy());
    EXPECT_EQ(reduce_widely(workload, 2, false).at(0).values.at(0).real, 2.0L - kElements);
    EXPECT_EQ(values_of<float>(right_results(workload)).at(0), static_cast<float>(2 - kElements));
}

TEST(Reference, AgreesWithFoldsWrittenOut)
{
    constexpr std::int64_t kElements = 20000;
    const auto segments = [&] {
        return resolve(parse_layout("geometric:mean=7,seed=3"), kElements).segments;
    };
    const auto traced = workload_of(standard_operator("trace_u64"), segments(),
                                    generate_values(Type::u64, kElements, 5, ValueRange::uniform));
    const auto summed = workload_of(standard_operator("sum_f32"), segments(),
                                    generate_values(Type::f32, kElements, 5, ValueRange::uniform));
    const auto hashes = values_of<std::uint64_t>(reduce_sequentially(traced), 0);
    const auto powers = values_of<std::uint64_t>(reduce_sequentially(traced), 1);
    const auto sums = values_of<float>(reduce_sequentially(summed));
    const auto x = traced.arrays[0].as<std::uint64_t>();
    const auto y = summed.arrays[0].as<float>();
    for (std::int64_t s = 0; s < traced.segments.num_segments; ++s) {
        std::uint64_t hash = 0;
        std::uint64_t power = 1;
        float sum = 0;
        for (std::int64_t i = traced.segments.begin(s); i < traced.segments.end(s); ++i) {
            hash = hash * 0xd1342543de82ef95 + (x[i] ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
            power *= 0xd1342543de82ef95;
            sum += y[i];
        }
        ASSERT_EQ(hashes[s], hash) << "segment " << s;
        ASSERT_EQ(powers[s], power) << "segment " << s;
        ASSERT_EQ(sums[s], sum) << "segment " << s;
    }
}

TEST(Reference, FoldsLongSegmentsInPartsInWidePrecision)
{
    constexpr std::int64_t kElements = (std::int64_t{1} << 20) + 12345;
    const auto workload = workload_of(standard_operator("trace_u64"),
                                      segments_from_offsets(indices({0, 5, kElements}), kElements),
                                      generate_values(Type::u64, kElements, 5, ValueRange::uniform));
    const auto results = reduce_sequentially(workload);
    const auto wide = reduce_widely(workload, 3);
    for (std::size_t f = 0; f < 2; ++f)
        for (std::size_t s = 0; s < 2; ++s)
            EXPECT_EQ(wide[f].values[s].bits, results[f].array.as<std::uint64_t>()[s])
                << "field " << f << ", segment " << s;
}

TEST(Reference, DoesNotDependOnThreads)
{
    const auto workload =
        workload_of(standard_operator("mean_variance_f32"),
                    resolve(parse_layout("lognormal:mean=3,sigma=1.2,seed=7"), 50000).segments,
                    generate_values(Type::f32, 50000, 5, ValueRange::uniform));
    const auto one = reduce_sequentially(workload, Precision::working, 1);
    const auto many = reduce_sequentially(workload, Precision::working, 5);
    EXPECT_EQ(values_of<std::uint32_t>(one, 0), values_of<std::uint32_t>(many, 0));
    EXPECT_EQ(values_of<std::uint32_t>(one, 1), values_of<std::uint32_t>(many, 1));
}

TEST(SegmentBlocks, CoverEachNumberOnce)
{
    for (const std::int64_t count : {0, 1, 2, 31, 1000, 100003}) {
        std::vector<int> visits(static_cast<std::size_t>(count));
        for_blocks(count, 3, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                ++visits[static_cast<std::size_t>(i)];
        });
        EXPECT_EQ(visits, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
}

TEST(Evaluator, FoldIsLiftAndCombineByTurns)
{
    const auto op = standard_operator("affine_u32");
    const auto bytecode = compile_bytecode(op);
    const auto workload =
        workload_of(op, whole_segments(40), generate_values(Type::u32, 40, 1, ValueRange::uniform),
                    generate_values(Type::u32, 40, 2, ValueRange::uniform));
    const auto inputs = inputs_of(workload);
    Evaluator<double> evaluator(bytecode);
    Slot<double> folded[2];
    Slot<double> state[2];
    Slot<double> later[2];
    for (const std::int64_t end : {11, 12, 40}) {
        evaluator.fold(inputs.columns, 10, end, 3, 0, folded);
        evaluator.lift(inputs.columns, 10, 3, 0, state);
        for (std::int64_t i = 11; i < end; ++i) {
            evaluator.lift(inputs.columns, i, i - 7, 0, later);
            evaluator.combine(state, later, state);
        }
        EXPECT_EQ(folded[0].bits, state[0].bits);
        EXPECT_EQ(folded[1].bits, state[1].bits);
    }
}

}  // namespace
}  // namespace segfold::reference_test
