// Offsets that kernels make of flags and keys before a stage folds over them.
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "runtime/session/choice/explanation.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::find_offsets_test {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kUnit = 2048;         // items of a warp
constexpr std::int64_t kBlock = 32 * kUnit;  // items whose offsets a block lists
constexpr std::int64_t kLarge = 128 * kUnit;

const Stage& stage() { return Catalogue::standard().stage("lean_stream"); }

/// Cuts `num_items` into segments of every length from 1 to 2 * `mean`.
Lengths mixed(std::int64_t num_items, std::int64_t mean)
{
    Lengths lengths;
    std::int64_t rest = num_items;
    for (std::int64_t k = 1; rest > 0; k = k * 7 % (2 * mean + 1) + 1) {
        lengths.push_back(std::min(rest, k));
        rest -= lengths.back();
    }
    return lengths;
}

void expect_agreement(const Operator& op, const Segments& segments, const Segments* earlier = nullptr,
                      int shifted = 0)
{
    const Problem problem(op, segments.form, segments.index_bits());
    const auto emitted = emit(problem, stage(), smallest_configuration(stage(), problem));
    const auto workload = make_workload(op, segments.copy(), 7);
    simt::CompileOptions options;
    options.shadow_check = segments.num_elements < kBlock;
    const auto results = simt::run(workload, emitted, simt::options_from_seed(3), options, 2, 2, shifted, {},
                                   nullptr, earlier);
    const auto comparison = Judge(workload).compare(results);
    EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
}

TEST(FindOffsets, UnitsBeginAndEndAnywhere)
{
    for (const auto form : {SegmentForm::flags, SegmentForm::keys})
        for (const std::int64_t n : {std::int64_t{1}, std::int64_t{511}, std::int64_t{513}, kUnit - 1, kUnit,
                                     kUnit + 1, 3 * kUnit + 700, kBlock - 1, kBlock + 1})
            for (const std::int64_t mean : {1, 9, 400}) {
                SCOPED_TRACE(testing::Message() << name(form) << ", " << n << " items, mean " << mean);
                expect_agreement(standard_operator("sum_i32"), segments_in_form(form, mixed(n, mean)),
                                 nullptr, static_cast<int>(n % 2));
            }
}

TEST(FindOffsets, OneSegmentAndOnlyOnes)
{
    for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
        expect_agreement(standard_operator("trace_u64"), segments_in_form(form, Lengths{3 * kUnit + 5}));
        expect_agreement(standard_operator("trace_u64"),
                         segments_in_form(form, Lengths(static_cast<std::size_t>(kUnit + 40), 1)));
    }
}

TEST(FindOffsets, LengthsReachTheOperator)
{
    expect_agreement(matrix_operator("sum_and_length"), segments_in_form(SegmentForm::keys, mixed(5000, 40)));
}

TEST(FindOffsets, IndicesMayHave64Bits)
{
    for (const auto form : {SegmentForm::flags, SegmentForm::keys})
        expect_agreement(standard_operator("sum_i32"),
                         with_index_bits(segments_in_form(form, mixed(2 * kUnit + 9, 30)), 64));
}

/// Atomic functions add up the counts of many units. The counts must be 0 again for the next launch.
TEST(FindOffsets, TheNextLaunchCountsAnew)
{
    const auto n = 2 * kLarge + kUnit + 77;
    const auto earlier = segments_in_form(SegmentForm::flags, mixed(n, 300));
    expect_agreement(standard_operator("sum_i32"), segments_in_form(SegmentForm::flags, mixed(n, 1000)),
                     &earlier);
}

/// The scratch memory that --explain reports on a GPU: an offset, a key and a bit for each element.
TEST(FindOffsets, ScratchMemoryIsSaid)
{
    const auto n = 4 * kLarge;
    const auto workload =
        make_workload(standard_operator("sum_i32"), segments_in_form(SegmentForm::keys, mixed(n, 100)), 7);
    const Problem problem(workload.op, SegmentForm::keys, 32);
    const auto emitted = emit(problem, stage(), default_configuration(stage(), plan_facts(problem)));
    Explanation explanation;
    explanation.scratch_bytes = scratch_bytes_of(emitted, workload, 132);
    EXPECT_GT(explanation.scratch_bytes, 8 * n + n / 8);
    EXPECT_LT(explanation.scratch_bytes, 9 * n);
    EXPECT_EQ(explain(explanation).back(),
              std::pair(std::string("scratch"),
                        std::to_string(explanation.scratch_bytes) + " bytes beside the arrays"));
}

}  // namespace
}  // namespace segfold::test::find_offsets_test
