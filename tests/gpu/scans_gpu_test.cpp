// Running results on a GPU: every form of the stage over tiles of every size, many tiles by look-back, and
// scans of a session.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dsl/derived.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/reference.h"
#include "tests/gpu/plans_on_gpu.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/row_scan_plans.h"
#include "tests/stages/scan_cases.h"

namespace segfold::test::scans_gpu_test {
namespace {

class ScansOnGpu : public PlansOnGpu {
protected:
    /// Expects of a case in one configuration what plain loops give.
    void expect_as_loops(const ScanCase& c, const std::map<std::string, int>& settings, std::int64_t tile,
                         const std::vector<std::int64_t>& lengths, const std::string& what)
    {
        expect_as_loops(c, "running_tiles", settings, tile, segments_of(c, lengths), what);
    }
    void expect_as_loops(const ScanCase& c, const char* stage_name,
                         const std::map<std::string, int>& settings, std::int64_t tile, Segments segments,
                         const std::string& what)
    {
        const auto& stage = Catalogue::standard().stage(stage_name);
        Problem problem(scan_operator(c.op), c.form, c.bits);
        const auto emitted = emit(problem, stage, configure(stage, settings, plan_facts(problem)));
        const auto workload = scan_workload(c.op, std::move(segments));
        ASSERT_EQ(first_difference(run(workload, emitted), scanned_by_loops(workload, c.op)), "")
            << print(c) << ", " << what << ", tiles of " << tile;
    }
};

TEST_F(ScansOnGpu, AreThoseOfLoopsInSmallTiles)
{
    for (const auto& c : all_scan_cases())
        for (const auto& [name, lengths] : length_cases(64, 256, true)) {
            if (c.form == SegmentForm::uniform && total(lengths) < 7)
                continue;
            expect_as_loops(c, {{"block_threads", 64}, {"items_per_thread", 4}}, 256, lengths, name);
        }
}

/// Blocks that take several segments, one, and one in several tiles.
TEST_F(ScansOnGpu, AreThoseOfLoopsOverWholeSegments)
{
    for (const auto& c : all_scan_cases())
        for (const std::int64_t length : {1, 7, 32, 200, 1000, 1024, 4096, 5000, 100'000})
            if (c.form == SegmentForm::uniform)
                expect_as_loops(c, "running_segments", {}, 0,
                                uniform_segments(1'000'000 / length * length, length),
                                "length " + std::to_string(length));
}

/// Tiles that stand behind many others, among segments that end in each of them, in few and in none.
TEST_F(ScansOnGpu, AreThoseOfLoopsOverMillionsOfElements)
{
    for (const auto& c : all_scan_cases()) {
        expect_as_loops(c, {}, 0, {3, 5'000'001, 0, 70'000}, "a giant");
        expect_as_loops(c, {}, 0, std::vector<std::int64_t>(70'000, 31), "short segments");
        std::vector<std::int64_t> lengths;
        for (std::int64_t i = 0; i < 3000; ++i)
            lengths.push_back(i % 3 == 0 ? 0 : i * 37 % 1400);
        expect_as_loops(c, {}, 0, lengths, "segments around a tile");
    }
}

TEST_F(ScansOnGpu, OfASessionAreThoseOfTheHost)
{
    Session host({.backend = "cpu"});
    const auto op = standard_operator("affine_u32");
    const auto workload = make_workload(op, segments_in_form(SegmentForm::offsets, {40'000, 0, 1, 99, 5}), 3);
    std::vector<ArrayView> columns;
    for (const auto& array : workload.arrays)
        columns.push_back({array.type(), array.data(), static_cast<std::int64_t>(array.length())});
    const auto& places = workload.segments.offsets;
    const auto view = offsets({places.type(), places.data(), static_cast<std::int64_t>(places.length())});
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true}) {
            const ScanOptions options{.exclusive = exclusive, .reverse = reverse};
            const auto here = session_->scan(op, columns, view, options);
            const auto there = host.scan(op, columns, view, options);
            for (const auto& result : op.results)
                EXPECT_TRUE(std::ranges::equal(here.values<std::uint32_t>(result.name),
                                               there.values<std::uint32_t>(result.name)))
                    << result.name << ", " << exclusive << ", " << reverse;
        }
}

TEST_F(ScansOnGpu, OfRowsAreThoseOfTheReference)
{
    for (const auto& c : row_scan_plans()) {
        const auto emitted = cuda_text(c);
        const auto tile = tile_rows(emitted);
        std::size_t turn = 0;
        const auto expect = [&](const std::vector<std::int64_t>& lengths, const std::string& what) {
            const auto num_features = c.features[turn++ % c.features.size()];
            const auto workload = row_scan_workload(c.op, segments_of(c, lengths), num_features);
            ASSERT_EQ(first_difference(run(workload, emitted), reduce_sequentially(workload)), "")
                << print(c) << ", " << what << ", " << num_features << " features";
        };
        for (const auto& [name, lengths] : length_cases(32, std::max<std::int64_t>(tile, 8), true))
            if (c.form != SegmentForm::uniform || total(lengths) >= 7)
                expect(lengths, name);
        expect({3, 3000 * tile + 1, 0, 700}, "a giant");
        expect(std::vector<std::int64_t>(3000, 31), "short segments");
    }
}

/// Where combine rounds, too, since no sum depends on which block is ahead.
TEST_F(ScansOnGpu, OfRowsHaveTheSameBitsInEachRun)
{
    const auto& stage = Catalogue::standard().stage("running_rows");
    const auto op = scanned(over_rows(standard_operator("sum_f32")), {});
    const Problem problem(op, SegmentForm::offsets);
    auto workload = rows_of_numbers(op, segments_in_form(SegmentForm::offsets, {200'000, 5, 70'000}), 16, 5);
    workload.arrays[0] = generate_values(Type::f32, 270'005 * 16, 5, ValueRange::uniform);
    const auto emitted =
        emit(problem, stage, default_configuration(stage, plan_facts(problem, {.num_features = 16})));
    const auto first = run(workload, emitted);
    for (int round = 0; round < 20; ++round)
        ASSERT_EQ(first_difference(run(workload, emitted), first), "") << round;
}

}  // namespace
}  // namespace segfold::test::scans_gpu_test
