// One thread's native fold on the host: right to the bit, in order, and timed.
#include <gtest/gtest.h>

#include <cstring>

#include "dsl/error.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/judge/reference.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::cpu_fold_test {
namespace {

std::vector<const std::byte*> columns_of(const Workload& workload)
{
    std::vector<const std::byte*> columns;
    for (const auto& array : workload.arrays)
        columns.push_back(array.data());
    return columns;
}

void expect_reference(const Workload& workload)
{
    const auto fold = cpu::fold_sequentially(workload.op, workload.segments, columns_of(workload), 2);
    const auto expected = reduce_sequentially(workload);
    ASSERT_EQ(fold.results.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(fold.results[i].array.bytes(), expected[i].array.bytes());
        EXPECT_EQ(
            std::memcmp(fold.results[i].array.data(), expected[i].array.data(), expected[i].array.bytes()), 0)
            << workload.op.name << ", " << expected[i].name;
    }
    ASSERT_EQ(fold.seconds.size(), 2U);
    for (const double seconds : fold.seconds)
        EXPECT_GT(seconds, 0);
}

TEST(CpuFold, OneSegmentIsTheReferenceBitForBit)
{
    for (const auto* op : {"sum_f32", "trace_u64", "affine_u32", "keep_first_i32", "max_subarray_i32"})
        expect_reference(make_workload(op, whole_segments(10007), 3));
}

TEST(CpuFold, SegmentsByOffsetsAndRangesAreFoldedEach)
{
    const std::vector<std::int64_t> offsets = {0, 0, 1, 5, 5, 300, 301};
    const auto by_offsets =
        segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), offsets.back());
    expect_reference(make_workload("trace_u64", by_offsets.copy(), 3));
    const std::vector<std::int64_t> begins = {7, 0, 2}, ends = {9, 5, 2};
    expect_reference(make_workload("trace_u64",
                                   segments_from_ranges(Array::of<std::int64_t>(Type::i64, begins),
                                                        Array::of<std::int64_t>(Type::i64, ends), 9),
                                   3));
}

TEST(CpuFold, AColumnForEachParameterIsNeeded)
{
    const auto workload = make_workload("sum_i32", whole_segments(8), 3);
    EXPECT_THROW((void)cpu::fold_sequentially(workload.op, workload.segments, {}, 1), InternalError);
}

TEST(CpuFold, TheProcessorHasAName) { EXPECT_NE(cpu::processor_name(), ""); }

}  // namespace
}  // namespace segfold::test::cpu_fold_test
