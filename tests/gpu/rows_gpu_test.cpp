// Rows of features on a GPU: every stage over rows, the lengths of rows that matter, write-back, arrays that
// begin in the middle of a vector.
#include <gtest/gtest.h>

#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "tests/gpu/plans_on_gpu.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::test::rows_gpu_test {
namespace {

class RowsOnGpu : public PlansOnGpu {};

/// Each text with every length of rows, in vectors and without. SEGFOLD_ROWS=all: of every pair.
TEST_F(RowsOnGpu, EveryStageAgreesWithTheReference)
{
    for (const auto& c : asked_row_cases()) {
        const auto emitted = emitted_for(c.op, Catalogue::standard().stage(c.stage), c.form, c.features[0],
                                         c.settings, c.bits);
        for (const auto num_features : kRowLengths) {
            const auto workload = workload_of(c, num_features);
            const auto comparison = Judge(workload).compare(run(workload, emitted));
            ASSERT_TRUE(comparison.agrees()) << c.stage << ", " << name(c.form) << ", " << c.op.name << ", "
                                             << num_features << " features: " << print(comparison);
        }
    }
}

TEST_F(RowsOnGpu, WriteBack)
{
    for (const auto* stage : {"row_groups", "row_stream", "fused_row_groups"})
        for (const bool keeps_results : {true, false})
            for (const std::int64_t width : {8, 33}) {
                const RowCase c{stage, SegmentForm::offsets, rows_told_back(keeps_results), {width}};
                const auto emitted = emitted_for(c.op, Catalogue::standard().stage(stage), c.form, width);
                for (const auto num_features : kRowLengths) {
                    const auto workload = workload_of(c, num_features);
                    const auto comparison = Judge(workload).compare(run(workload, emitted));
                    ASSERT_TRUE(comparison.agrees())
                        << stage << ", " << num_features << " features: " << print(comparison);
                }
            }
}

/// The host counts segments given by flags and keys; results and outputs have their own lengths.
TEST_F(RowsOnGpu, FlagsAndKeysOfTheHostAreServed)
{
    Session session({.backend = "cuda"});
    for (const auto& op : {rows_told_back(true), over_rows(standard_operator("affine_u32"))})
        for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
            const auto workload = rows_of_numbers(op, segments_in_form(form, {3, 2, 40, 1}), 3, 5);
            const auto results = core(session).fold(workload, {}).results;
            const auto comparison = Judge(workload).compare(results);
            EXPECT_TRUE(comparison.agrees()) << op.name << ", " << name(form) << ": " << print(comparison);
            for (const auto& [name, array] : results)
                EXPECT_EQ(array.row_length(), 3U) << name;
        }
}

/// Fused over columns, at the borders of tiles.
TEST_F(RowsOnGpu, TilesAreMapped)
{
    const auto& stage = Catalogue::standard().stage("fused_tiles");
    for (const auto& op : {told_back(true), told_back(false), standard_operator("softmax_f32")})
        for (const int bits : {32, 64}) {
            const Problem problem(op, SegmentForm::offsets, bits);
            auto configuration = default_configuration(stage, plan_facts(problem));
            configuration["items_per_thread"] = bits / 2;
            const auto emitted = emit(problem, stage, configuration);
            for (const auto& lengths : tile_lists(32 * configuration.at("items_per_thread"))) {
                const auto workload = make_workload(
                    op, with_index_bits(segments_in_form(SegmentForm::offsets, lengths), bits), 7);
                const auto comparison = Judge(workload).compare(run(workload, emitted));
                ASSERT_TRUE(comparison.agrees()) << op.name << ", " << lengths.size() << " segments of "
                                                 << total(lengths) << ": " << print(comparison);
            }
        }
}

/// Kept in registers by lanes of a warp, by a warp and by blocks, and longer than they can keep.
TEST_F(RowsOnGpu, SegmentsInRegistersAreMapped)
{
    const auto& stage = Catalogue::standard().stage("fused_blocks");
    for (const auto& op : {told_back(true), told_back(false), standard_operator("softmax_f32")})
        for (const int threads : {4, 16, 32, 64, 512}) {
            const Problem problem(op, SegmentForm::offsets, threads == 32 ? 64 : 32);
            auto configuration = default_configuration(stage, plan_facts(problem));
            configuration["segment_threads"] = threads;
            configuration["items_per_thread"] = 16;
            configuration["block_threads"] = std::max(64, threads);
            const auto emitted = emit(problem, stage, configuration);
            for (const auto& lengths : tile_lists(threads * 16)) {
                auto segments = segments_in_form(SegmentForm::offsets, lengths);
                const auto workload =
                    make_workload(op, with_index_bits(std::move(segments), problem.index_bits), 7);
                const auto comparison = Judge(workload).compare(run(workload, emitted));
                ASSERT_TRUE(comparison.agrees()) << op.name << ", " << threads << " threads, "
                                                 << total(lengths) << " elements: " << print(comparison);
            }
        }
}

/// Vectors want rows at multiples of 16 bytes; one number further each is loaded alone.
TEST_F(RowsOnGpu, ArraysMayBeginAnywhere)
{
    const auto op = over_rows(standard_operator("sum_i32"));
    constexpr std::int64_t kRows = 300, kFeatures = 16, kSegments = 3;
    std::vector<std::int32_t> x(kRows * kFeatures + 1), sums(kSegments * kFeatures + 1);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<std::int32_t>(i * 2654435761U >> 20);
    const DeviceBuffer numbers(*context_, std::as_bytes(std::span(x)));
    for (const auto* stage : {"row_groups", "row_stream"})
        for (const std::size_t begin : {0, 1})
            for (const std::size_t to : {0, 1}) {
                PlanOptions plan_options;
                plan_options.num_features = kFeatures;
                plan_options.request.stage = stage;
                const auto view = uniform(kRows / kSegments);
                auto plan = session_->plan(op, view, kRows, plan_options);
                DeviceBuffer results(*context_, sums.size() * sizeof(std::int32_t));
                const auto* from = reinterpret_cast<const std::int32_t*>(numbers.address()) + begin;
                auto* into = reinterpret_cast<std::int32_t*>(results.address()) + to;
                plan.run({rows_of(on_device(from, kRows * kFeatures), kFeatures)}, view,
                         {on_device(into, kSegments * kFeatures)});
                context_->synchronize();
                results.copy_out(std::as_writable_bytes(std::span(sums)));
                for (std::size_t s = 0; s < kSegments; ++s)
                    for (std::size_t k = 0; k < kFeatures; ++k) {
                        std::int32_t sum = 0;
                        for (std::size_t row = s * 100; row < (s + 1) * 100; ++row)
                            sum += x[begin + row * kFeatures + k];
                        ASSERT_EQ(sums[to + s * kFeatures + k], sum) << stage << ", " << begin << ", " << to;
                    }
            }
}

}  // namespace
}  // namespace segfold::test::rows_gpu_test
