// What a run takes if nobody chooses: the first stage of the order that is grown from rows, and its `prefer`
// lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/shape.h"

namespace segfold::rule_of_thumb_test {
namespace {

/// Returns the stage for segments by offsets. Padding in slices makes `padded` elements of the segments'
/// `elements`.
std::string taken(const std::string& op, std::int64_t elements, std::int64_t segments, std::int64_t longest,
                  std::int64_t padded)
{
    const Problem problem(standard_operator(op), SegmentForm::offsets);
    return Catalogue::standard().rule_of_thumb(problem, {elements, segments, longest, 0, padded}).name;
}

/// Segments that some threads, a block or a cluster can keep are read once; giants among others are left to
/// two launches.
TEST(RuleOfThumb, KeepsSegmentsOnTheChipUntilTheyAreMapped)
{
    const auto of_one_length = [](std::int64_t length, std::int64_t segments) {
        const Problem problem(standard_operator("softmax_f32"), SegmentForm::uniform);
        return Catalogue::standard().rule_of_thumb(problem, {length * segments, segments, length, 0, 0}).name;
    };
    for (const std::int64_t length : {32, 64, 100, 1001, 4096, 32768, 65536})
        EXPECT_EQ(of_one_length(length, (1 << 24) / length), "fused_blocks") << length;
    EXPECT_EQ(of_one_length(4, 1 << 20), "thread_per_segment");
    const Problem equal(standard_operator("softmax_f32"), SegmentForm::uniform);
    EXPECT_EQ(Catalogue::standard().rule_of_thumb(equal, {1 << 20, 1 << 10}).name, "fused_blocks")
        << "equal lengths are known by the form";
    EXPECT_EQ(taken("softmax_f32", 1000000, 1000, 2000, 0), "fused_blocks");
    EXPECT_EQ(taken("softmax_f32", 1 << 24, 1 << 22, 40, 0), "fused_tiles") << "which packs short ones";
    EXPECT_EQ(taken("softmax_f32", 1 << 24, 1 << 14, 1 << 23, 0), "warp_stream")
        << "one block would work alone";
}

/// How a segment is kept: threads of a block, elements that each has in registers and in shared memory, and
/// blocks.
using Kept = std::tuple<int, int, int, int>;

TEST(RuleOfThumb, GivesASegmentAsManyThreadsAsKeepIt)
{
    const auto& stage = Catalogue::standard().stage("fused_blocks");
    const auto kept = [&](const char* op, SegmentForm form, const Shape& shape, int capability = 90,
                          int kilobytes = 227) {
        Problem problem(standard_operator(op), form);
        problem.target.compute_capability = capability;
        problem.target.block_shared_bytes = std::int64_t{kilobytes} * 1024;
        const auto configuration = default_configuration(stage, plan_facts(problem, shape));
        return Kept(configuration.at("segment_threads"), configuration.at("items_per_thread"),
                    configuration.at("shared_items"), configuration.at("cluster_blocks"));
    };
    const auto of_one_length = [&](const char* op, std::int64_t length, int capability = 90,
                                   int kilobytes = 227) {
        return kept(op, SegmentForm::uniform, {length * 1000, 1000, length, 0, 0}, capability, kilobytes);
    };
    EXPECT_EQ(of_one_length("softmax_f32", 64), Kept(4, 16, 0, 1));
    EXPECT_EQ(of_one_length("softmax_f32", 100), Kept(8, 16, 0, 1)) << "four lanes would read half sectors";
    EXPECT_EQ(of_one_length("softmax_f32", 1024), Kept(32, 32, 0, 1));
    EXPECT_EQ(of_one_length("softmax_f32", 1100), Kept(32, 32, 32, 1));
    EXPECT_EQ(of_one_length("softmax_f32", 4100), Kept(64, 32, 32, 1)) << "and read four elements again";
    EXPECT_EQ(of_one_length("softmax_f32", 65536), Kept(1024, 32, 32, 1));
    EXPECT_EQ(of_one_length("softmax_f32", 87381), Kept(1024, 32, 32, 1)) << "and read a quarter again";
    EXPECT_EQ(of_one_length("softmax_f32", 131072), Kept(512, 32, 32, 4));
    EXPECT_EQ(of_one_length("softmax_f32", 1048576), Kept(512, 32, 32, 8));
    EXPECT_EQ(of_one_length("softmax_f32", 131072, 80, 163), Kept(1024, 32, 32, 1)) << "without clusters";
    EXPECT_EQ(of_one_length("softmax_f32", 131072, 75, 64), Kept(1024, 32, 8, 1)) << "with less memory";
    EXPECT_EQ(of_one_length("softmax_f64", 1024), Kept(32, 16, 16, 1));
    EXPECT_EQ(of_one_length("softmax_bf16", 128), Kept(4, 32, 0, 1));
    EXPECT_EQ(of_one_length("softmax_bf16", 288), Kept(8, 32, 16, 1)) << "so that no lane waits for others";
    EXPECT_EQ(of_one_length("softmax_bf16", 4096), Kept(64, 32, 64, 1));
    EXPECT_EQ(of_one_length("rms_norm_bf16", 4096), Kept(64, 16, 64, 1)) << "weights take registers";
    EXPECT_EQ(kept("softmax_f32", SegmentForm::offsets, {4046000, 1000, 8000, 0, 0}), Kept(128, 32, 32, 1));
    EXPECT_EQ(kept("softmax_f32", SegmentForm::offsets, {1000000, 1000, 9000, 0, 0}), Kept(64, 32, 0, 1));
}

/// All tiles run at once: a second wave of blocks would be half empty.
TEST(RuleOfThumb, RunStreamTakesAsManySlicesAsOneWaveNeeds)
{
    const auto& stage = Catalogue::standard().stage("run_stream");
    constexpr std::int64_t kWave = 528 * 224 * 16;
    const auto slices = [&](SegmentForm form, std::int64_t elements, std::int64_t mean) {
        const Shape shape{elements, elements / mean, mean};
        return default_configuration(stage, plan_facts(Problem(standard_operator("sum_f32"), form), shape))
            .at("slices_per_warp");
    };
    for (const auto& [waves, by_flags, by_keys] :
         {std::tuple(1, 1, 1), {3, 3, 4}, {5, 5, 6}, {6, 6, 6}, {7, 8, 7}, {9, 10, 10}, {16, 16, 16}}) {
        EXPECT_EQ(slices(SegmentForm::flags, waves * kWave, 32), by_flags) << waves;
        EXPECT_EQ(slices(SegmentForm::keys, waves * kWave, 32), by_keys) << waves;
    }
    EXPECT_EQ(slices(SegmentForm::keys, 5 * kWave / 2, 32), 3) << "one more is worse here";
    EXPECT_EQ(slices(SegmentForm::flags, 17 * kWave, 32), 4);
    EXPECT_EQ(slices(SegmentForm::flags, 9 * kWave, 7), 4) << "many segments, in turns";
    EXPECT_EQ(slices(SegmentForm::flags, 8 * kWave, 7), 8);
}

/// Each of 132 multiprocessors holds three blocks of 288 threads, or four of 256.
TEST(RuleOfThumb, RunTilesTakesSmallerBlocksBeyondOneWave)
{
    const auto& stage = Catalogue::standard().stage("run_tiles");
    constexpr std::int64_t kWave = 3 * 132 * 4096;
    const auto threads = [&](const std::string& op, SegmentForm form, std::int64_t elements) {
        const Shape shape{elements, elements / 32, 32};
        return default_configuration(stage, plan_facts(Problem(standard_operator(op), form), shape))
            .at("block_threads");
    };
    for (const auto* op : {"max_f64", "argmax_f32"}) {
        EXPECT_EQ(threads(op, SegmentForm::keys, kWave), 288) << op;
        EXPECT_EQ(threads(op, SegmentForm::keys, kWave + 1), 256) << op;
        EXPECT_EQ(threads(op, SegmentForm::flags, kWave + 1), 288) << op << ": four blocks reside";
    }
}

/// Two blocks of each multiprocessor take all items, with enough slices a warp.
TEST(RuleOfThumb, RunTilesTakesSlicesOfCopiedItemsInOneWave)
{
    const auto& stage = Catalogue::standard().stage("run_tiles");
    constexpr std::int64_t kSlices = 132 * 512;  // one slice for each multiprocessor
    const auto plan = [&](const std::string& op, std::int64_t elements,
                          SegmentForm form = SegmentForm::keys) {
        const Shape shape{elements, elements / 32, 32};
        const auto chosen =
            default_configuration(stage, plan_facts(Problem(standard_operator(op), form), shape));
        return fmt::format("{} copies, {} slices, {} warps", chosen.at("copies"),
                           chosen.at("slices_per_warp"), chosen.at("block_threads") / 32 - 1);
    };
    for (const auto* op : {"sum_f64", "sum_i64"}) {
        EXPECT_EQ(plan(op, 300000), "0 copies, 1 slices, 8 warps") << op;
        EXPECT_EQ(plan(op, 24 * kSlices), "1 copies, 1 slices, 8 warps") << op;
        EXPECT_EQ(plan(op, 24 * kSlices + 1), "1 copies, 2 slices, 7 warps") << op;
        EXPECT_EQ(plan(op, 28 * kSlices + 1), "1 copies, 2 slices, 8 warps") << op;
        EXPECT_EQ(plan(op, 48 * kSlices), "1 copies, 2 slices, 12 warps") << op;
    }
    for (const auto* op : {"sum_f32", "sum_i32"}) {
        EXPECT_EQ(plan(op, 35 * kSlices), "0 copies, 1 slices, 11 warps") << op;
        EXPECT_EQ(plan(op, 35 * kSlices + 1), "1 copies, 2 slices, 9 warps") << op;
        EXPECT_EQ(plan(op, 48 * kSlices + 1), "1 copies, 3 slices, 9 warps") << op;
        EXPECT_EQ(plan(op, 64 * kSlices), "1 copies, 3 slices, 11 warps") << op;
    }
    EXPECT_EQ(plan("sum_f32", 40 * kSlices, SegmentForm::flags), "0 copies, 1 slices, 11 warps");
    EXPECT_EQ(plan("sum_f64", 40 * kSlices, SegmentForm::flags), "1 copies, 2 slices, 10 warps");
    EXPECT_EQ(plan("max_f32", 40 * kSlices), "0 copies, 1 slices, 11 warps") << "lift tells NaN from numbers";
}

/// For overlapping windows the mean length counts items of windows, not elements of the array.
TEST(RuleOfThumb, RangesCountWhatTheyFold)
{
    constexpr std::int64_t kWindows = 1000, kLength = 300;
    std::vector<std::int64_t> begins(kWindows), ends(kWindows);
    std::iota(begins.begin(), begins.end(), 0);
    std::iota(ends.begin(), ends.end(), kLength);
    const auto shape =
        shape_of(segments_from_ranges(Array::of<std::int64_t>(Type::i64, begins),
                                      Array::of<std::int64_t>(Type::i64, ends), kWindows + kLength));
    EXPECT_EQ(shape.num_elements, kWindows * kLength);
    const Problem problem(standard_operator("sum_f64"), SegmentForm::ranges);
    EXPECT_EQ(Catalogue::native().rule_of_thumb(problem, shape).name, "vector_per_segment");
}

}  // namespace
}  // namespace segfold::rule_of_thumb_test
