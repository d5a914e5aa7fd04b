// The reference's running results against loops, and the judge of running results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dsl/derived.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/reference.h"
#include "runtime/judge/table_check.h"
#include "tests/common/message_of.h"
#include "tests/common/small_workloads.h"

namespace segfold::scan_reference_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

template <class T>
Array column(Type type, const std::vector<T>& values)
{
    return Array::of<T>(type, std::span<const T>(values));
}

/// An affine map: v -> scale * v + shift.
struct Affine {
    std::uint32_t scale = 1, shift = 0;
};

Affine then(Affine first, Affine second)
{
    return {second.scale * first.scale, second.scale * first.shift + second.shift};
}

Numbers numbers(std::size_t count, std::uint32_t seed)
{
    Numbers values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(seed = seed * 1664525u + 1013904223u);
    return values;
}

/// Running compositions of the elements of one range, in the order of the data.
void scan_range(const Numbers& scale, const Numbers& shift, std::size_t begin, std::size_t end, ScanForm form,
                Numbers& scales, Numbers& shifts)
{
    for (std::size_t i = begin; i < end; ++i) {
        Affine running;
        const auto first = form.reverse ? (form.exclusive ? i + 1 : i) : begin;
        const auto last = form.reverse ? end : (form.exclusive ? i : i + 1);
        for (auto k = first; k < last; ++k)
            running = then(running, {scale[k], shift[k]});
        scales[i] = running.scale;
        shifts[i] = running.shift;
    }
}

void expect_affine(const Segments& segments, ScanForm form)
{
    const auto count = static_cast<std::size_t>(segments.num_elements);
    const auto scale = numbers(count, 1), shift = numbers(count, 2);
    Numbers scales(count), shifts(count);
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        scan_range(scale, shift, static_cast<std::size_t>(segments.begin(s)),
                   static_cast<std::size_t>(segments.end(s)), form, scales, shifts);
    const auto workload =
        workload_of(scanned(standard_operator("affine_u32"), form), segments.copy(),
                    column<std::uint32_t>(Type::u32, scale), column<std::uint32_t>(Type::u32, shift));
    const auto results = reduce_sequentially(workload);
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(values_of<std::uint32_t>(results, 0), scales);
    EXPECT_EQ(values_of<std::uint32_t>(results, 1), shifts);
    const Judge judge(workload);
    EXPECT_TRUE(judge.bit_for_bit());
    EXPECT_TRUE(judge.compare(results).agrees());
}

TEST(ScanReference, ComposesMapsInTheOrderOfTheData)
{
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true}) {
            SCOPED_TRACE(std::to_string(exclusive) + std::to_string(reverse));
            const ScanForm form{exclusive, reverse};
            expect_affine(whole_segments(7), form);
            expect_affine(uniform_segments(12, 3), form);
            expect_affine(segments_from_offsets(indices({0, 0, 1, 1, 6, 6, 9, 9}), 9), form);
            expect_affine(segments_from_ranges(indices({6, 1, 4}), indices({9, 3, 4}), 10), form);
        }
}

TEST(ScanReference, SemigroupsAndEmptySegments)
{
    const auto scan = [](const Operator& op) {
        return values_of<std::int32_t>(
            reduce_sequentially(workload_of(op, segments_from_offsets(indices({0, 0, 3, 3, 5}), 5),
                                            array_of<std::int32_t>(Type::i32, {7, 8, 9, 4, 5}))));
    };
    const auto first = standard_operator("keep_first_i32");
    EXPECT_EQ(scan(scanned(first, {})), (std::vector<std::int32_t>{7, 7, 7, 4, 4}))
        << "empty segments have no element that would need a result";
    EXPECT_EQ(scan(scanned(first, {.reverse = true})), (std::vector<std::int32_t>{7, 8, 9, 4, 5}));
    const auto with_empty = parse_operator("test",
                                           "operator first(x: i32) -> i32 { state s: i32 lift x "
                                           "combine(a, b) a empty -1 }");
    EXPECT_EQ(scan(scanned(with_empty, {.exclusive = true})), (std::vector<std::int32_t>{-1, 7, 7, -1, 4}));
    EXPECT_EQ(scan(scanned(with_empty, {.exclusive = true, .reverse = true})),
              (std::vector<std::int32_t>{8, 9, -1, 5, -1}));
}

TEST(ScanReference, MeansKnowHowManyElementsThereAre)
{
    const auto op = parse_operator("test",
                                   "operator mean(x: i64) -> i64 { state s: i64 = 0 lift x "
                                   "combine(a, b) a + b finish s / length + 100 * segment empty -1 }");
    const auto scan = [&](ScanForm form) {
        return values_of<std::int64_t>(
            reduce_sequentially(workload_of(scanned(op, form), uniform_segments(6, 3),
                                            array_of<std::int64_t>(Type::i64, {3, 5, 10, 0, 8, 1}))));
    };
    using Means = std::vector<std::int64_t>;
    EXPECT_EQ(scan({}), (Means{3, 4, 6, 100, 104, 103}));
    EXPECT_EQ(scan({.exclusive = true}), (Means{-1, 3, 4, -1, 100, 104}));
    EXPECT_EQ(scan({.reverse = true}), (Means{6, 7, 10, 103, 104, 101}));
    EXPECT_EQ(scan({.exclusive = true, .reverse = true}), (Means{7, 10, -1, 104, 101, -1}));
}

TEST(ScanReference, ScanMapAndResultsInOneFold)
{
    const auto op = parse_operator(
        "test", R"(operator f(x: i32, t: table i32) -> (total: i32, each rest: i32, each running: i32) {
  state s: i32 = 0
  lift x
  combine(a, b) a + b
  finish s
  map { rest = total - x }
  scan(before, through) { running = before * 100 + through * t[segment] + i32(position) }
})");
    const auto workload = workload_of(op, segments_from_offsets(indices({0, 2, 2, 5}), 5),
                                      array_of<std::int32_t>(Type::i32, {1, 2, 3, 4, 5}),
                                      array_of<std::int32_t>(Type::i32, {1, 0, 10}));
    const auto results = reduce_sequentially(workload);
    EXPECT_EQ(values_of<std::int32_t>(results, 0), (std::vector<std::int32_t>{3, 0, 12}));
    EXPECT_EQ(values_of<std::int32_t>(results, 1), (std::vector<std::int32_t>{2, 1, 9, 8, 7}));
    EXPECT_EQ(values_of<std::int32_t>(results, 2), (std::vector<std::int32_t>{1, 104, 30, 371, 822}));
    // The results of segments alone suffice for all outputs.
    auto segments_alone = reduce_sequentially(fold_of(workload));
    const auto mapped = map_elements(workload, std::move(segments_alone));
    for (std::size_t f = 0; f < 3; ++f)
        EXPECT_EQ(values_of<std::int32_t>(mapped, f), values_of<std::int32_t>(results, f));
    EXPECT_TRUE(Judge(workload).compare(results).agrees());
}

TEST(ScanReference, TablesReadByStates)
{
    const auto reading = [](const std::string& scan, std::vector<std::int32_t> values) {
        return workload_of(parse_operator("test",
                                          "operator f(x: i32, t: table i32) -> each i32 { state s: i32 = 0 "
                                          "lift x combine(a, b) a + b " +
                                              scan + " }"),
                           uniform_segments(4, 2), column<std::int32_t>(Type::i32, std::move(values)),
                           array_of<std::int32_t>(Type::i32, {10, 11, 12}));
    };
    const auto refusal = [](const Workload& workload) {
        return test::message_of<InputError>([&] { return reduce_sequentially(workload); });
    };
    const auto right = reading("scan(before, through) t[through] + t[before]", {1, 1, 0, 2});
    EXPECT_EQ(values_of<std::int32_t>(reduce_sequentially(right)),
              (std::vector<std::int32_t>{21, 23, 20, 22}));
    EXPECT_EQ(unproved_tables(right), (std::vector<std::string>{"t"}));
    EXPECT_NO_THROW(check_tables(right));
    EXPECT_EQ(refusal(reading("scan(before, through) t[through]", {1, 1, 1, 2})),
              "table 't' has 3 entries; scan of element 3 reads t[3], and indices run from 0 to 2");
    EXPECT_EQ(refusal(reading("scan reverse(before, through) t[through]", {1, 1, 2, 1})),
              "table 't' has 3 entries; scan of element 2 reads t[3], and indices run from 0 to 2");
    EXPECT_EQ(refusal(reading("scan(before, through) t[x]", {1, 1, 1, 7})),
              "table 't' has 3 entries; scan of element 3 reads t[7], and indices run from 0 to 2");
    EXPECT_TRUE(unproved_tables(reading("scan(before, through) t[x] + through", {1, 1, 0, 2})).empty());
}

/// Sums of f32 that rounding changes, in another grouping than the reference's.
std::vector<float> sums_by_tiles(const std::vector<float>& values, std::size_t tile)
{
    std::vector<float> sums;
    float carry = 0;
    for (std::size_t begin = 0; begin < values.size(); begin += tile) {
        float inside = 0;
        for (auto i = begin; i < std::min(begin + tile, values.size()); ++i)
            sums.push_back(carry + (inside += values[i]));
        carry = sums.back();
    }
    return sums;
}

TEST(ScanJudge, AdmitsOtherGroupingsAndRefusesFaults)
{
    std::vector<float> values;
    for (std::size_t i = 0; i < 3000; ++i)
        values.push_back(static_cast<float>(numbers(1, static_cast<std::uint32_t>(i))[0] % 1000) * 0.37F +
                         0.1F);
    const auto workload = workload_of(scanned(standard_operator("sum_f32"), {}), whole_segments(3000),
                                      column<float>(Type::f32, values));
    const Judge judge(workload);
    EXPECT_FALSE(judge.bit_for_bit());
    const auto results_of = [&](const std::vector<float>& sums) {
        auto results = allocate_results(workload);
        results.at(0).array = column<float>(Type::f32, sums);
        return results;
    };
    for (const std::size_t tile : {1, 7, 64, 1024})
        EXPECT_TRUE(judge.compare(results_of(sums_by_tiles(values, tile))).agrees()) << tile;
    auto wrong = sums_by_tiles(values, 64);
    wrong[1234] += 400;
    const auto found = judge.compare(results_of(wrong));
    EXPECT_EQ(found.num_wrong, 1);
    ASSERT_TRUE(found.first_wrong);
    EXPECT_EQ(found.first_wrong->fields.at(0).name, "result of element 1234");
}

TEST(ScanJudge, RunsBackwardsOverReverseScans)
{
    std::vector<float> values;
    for (std::size_t i = 0; i < 500; ++i)
        values.push_back(static_cast<float>(i % 17) * 0.31F - 1.7F);
    const auto workload = workload_of(scanned(standard_operator("sum_f32"), {.reverse = true}),
                                      uniform_segments(500, 125), column<float>(Type::f32, values));
    const Judge judge(workload);
    std::vector<float> sums;
    for (std::size_t begin = 0; begin < 500; begin += 125) {
        std::vector<float> backwards(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                     values.begin() + static_cast<std::ptrdiff_t>(begin + 125));
        std::ranges::reverse(backwards);
        auto some = sums_by_tiles(backwards, 16);
        std::ranges::reverse(some);
        sums.insert(sums.end(), some.begin(), some.end());
    }
    auto results = allocate_results(workload);
    results.at(0).array = column<float>(Type::f32, sums);
    EXPECT_TRUE(judge.compare(results).agrees());
    sums[130] = sums[131];
    results.at(0).array = column<float>(Type::f32, sums);
    EXPECT_EQ(judge.compare(results).num_wrong, 1);
}

}  // namespace
}  // namespace segfold::scan_reference_test
