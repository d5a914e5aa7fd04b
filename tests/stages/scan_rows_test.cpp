// Running results of rows by CUDA texts on the fiber executor, against the reference: every form, both
// directions, sizes at the borders of tiles, numbers of features beside those of lanes and vectors, several
// schedules; planted bugs.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/reference.h"
#include "tests/common/brief_tests.h"
#include "tests/stages/bugs/bug_schedules.h"
#include "tests/stages/row_scan_plans.h"

namespace segfold::test::scan_rows_test {
namespace {

class RowScansOnSimt : public testing::TestWithParam<RowScanPlan> {};

TEST_P(RowScansOnSimt, AreThoseOfTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto& c = GetParam();
    const auto emitted = cuda_text(c);
    const auto tile = tile_rows(emitted);
    std::uint64_t seed = 0;
    std::size_t turn = 0;
    for (const auto& [name, lengths] :
         length_cases(std::min<std::int64_t>(tile, 32), std::max<std::int64_t>(tile, 8), true)) {
        if (c.form == SegmentForm::uniform && total(lengths) < 7)
            continue;
        const auto num_features = c.features[turn++ % c.features.size()];
        const auto workload = row_scan_workload(c.op, segments_of(c, lengths), num_features);
        const auto expected = reduce_sequentially(workload);
        for (int round = 0; round < 2; ++round) {
            const auto found =
                simt::run(workload, emitted, simt::options_from_seed(++seed), {}, 1 + round, 2);
            ASSERT_EQ(first_difference(found, expected), "")
                << name << ", " << num_features << " features, seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, RowScansOnSimt, testing::ValuesIn(row_scan_plans()),
                         [](const auto& info) { return print(info.param); });

const RowScanPlan kBackAndForth[] = {
    {{}, SegmentForm::offsets, {16}, row_scan_settings(64, 4, 4, 1)},
    {{.reverse = true}, SegmentForm::offsets, {16}, row_scan_settings(64, 4, 4, 1)}};

/// Segments over many tiles and spans, by schedules that let blocks overtake each other.
TEST(RowScansLookBack, OverManySpans)
{
    for (auto c : kBackAndForth)
        for (const int span_tiles : {2, 64}) {
            c.settings["span_tiles"] = span_tiles;
            const auto emitted = cuda_text(c);
            const auto tile = tile_rows(emitted);
            const auto workload =
                row_scan_workload(c.op, segments_of(c, {3, 75 * tile + 5, 0, 2 * tile}), 16);
            const auto expected = reduce_sequentially(workload);
            for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
                ASSERT_EQ(first_difference(simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2),
                                           expected),
                          "")
                    << span_tiles << ", seed " << seed;
        }
}

/// Which states are joined does not depend on the progress of blocks: a combine that is not associative shows
/// the grouping.
TEST(RowScansLookBack, InOneGrouping)
{
    for (auto c : kBackAndForth) {
        c.op.associative = false;
        c.settings["span_tiles"] = 8;
        const auto emitted = cuda_text(c);
        const auto tile = tile_rows(emitted);
        const auto workload = row_scan_workload(c.op, segments_of(c, {3, 75 * tile + 5, 0, 2 * tile}), 16);
        const auto first = simt::run(workload, emitted, schedule_of_seed(1), {}, 1, 2);
        EXPECT_NE(first_difference(first, reduce_sequentially(workload)), "") << "nothing shows the grouping";
        for (std::uint64_t seed = 2; seed <= kSeeds; ++seed)
            ASSERT_EQ(
                first_difference(simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2), first), "")
                << "seed " << seed;
    }
}

TEST(RowScans, ArePlansOfARunWithoutAWish)
{
    const Problem problem(row_scan_operator({}), SegmentForm::offsets);
    const auto& catalogue = Catalogue::standard();
    EXPECT_EQ(catalogue.rule_of_thumb(problem, {}).name, "running_rows");
    EXPECT_EQ(catalogue.unmet(catalogue.stage("running_tiles"), problem),
              "folds columns of numbers, and operator row_scan has rows");
    EXPECT_EQ(
        catalogue.unmet(catalogue.stage("running_rows"), Problem(scan_operator({}), SegmentForm::offsets)),
        "folds rows of features, and operator running has no parameter of rows");
    EXPECT_EQ(catalogue.unmet(catalogue.stage("row_stream"), problem),
              "gives no running results, and operator row_scan has a scan");
}

/// Lanes hold vectors of 16 bytes where the length of a row allows, and no more lanes than a row has vectors.
TEST(RowScans, FillLanes)
{
    const auto& stage = Catalogue::standard().stage("running_rows");
    const Problem problem(
        parse_operator("f",
                       "operator f(x: row f32) -> each f32 { state s: f32 = 0 lift x combine(a, b) a + b "
                       "scan(before, through) through }"),
        SegmentForm::offsets);
    const auto wanted = [&](std::int64_t num_features) {
        const auto c = default_configuration(stage, plan_facts(problem, {.num_features = num_features}));
        return std::vector<int>{c.at("features_per_lane"), c.at("feature_lanes"), c.at("rows_per_lane")};
    };
    EXPECT_EQ(wanted(1), (std::vector<int>{1, 1, 8}));
    EXPECT_EQ(wanted(3), (std::vector<int>{1, 4, 8}));
    EXPECT_EQ(wanted(16), (std::vector<int>{4, 4, 8}));
    EXPECT_EQ(wanted(33), (std::vector<int>{1, 16, 8}));
    EXPECT_EQ(wanted(256), (std::vector<int>{4, 16, 8}));
}

/// A bug that a person may make.
struct PlantedBug {
    const char* name;
    bool reverse;
    const char* from;
    const char* to;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class RowScanBugs : public testing::TestWithParam<PlantedBug> {};

/// A bug shows in results, or the executor reports it.
TEST_P(RowScanBugs, AreNoticed)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    auto c = kBackAndForth[GetParam().reverse ? 1 : 0];
    c.settings["block_threads"] = 128;  // more than two warps
    auto emitted = cuda_text(c);
    const auto tile = tile_rows(emitted);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{3, 45 * tile + 5, 0, 2 * tile},
                                                     {5, 25, 1, 30, 25, 0, 0, 100, 7},
                                                     {tile, 0, 0, 2 * tile, tile - 1, 1, 5 * tile}}) {
        const auto workload = row_scan_workload(c.op, segments_of(c, lengths), 20);
        const auto expected = reduce_sequentially(workload);
        for (std::uint64_t seed = 1; seed <= kSeeds && !is_found; ++seed) {
            try {
                const TimeLimit limit(std::chrono::seconds(20));
                is_found = !first_difference(simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2),
                                             expected)
                                .empty();
            } catch (const simt::SimtError&) {
                is_found = true;
            } catch (const Stopped&) {
                is_found = true;
            }
        }
    }
    EXPECT_TRUE(is_found);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, RowScanBugs,
    testing::Values(
        PlantedBug{"OperandsExchanged", false, "return combine(passed, next);",
                   "return combine(next, passed);"},
        PlantedBug{"OperandsExchangedFromTheEnd", true, "return combine(next, passed);",
                   "return combine(passed, next);"},
        PlantedBug{"GroupBeforeLeftOut", false, "if (lane >= kFeatureLanes)\n        before = neighbour;",
                   ""},
        PlantedBug{"WarpsExchanged", false, "earlier = join_runs(earlier, of_warp);",
                   "earlier = join_runs(of_warp, earlier);"},
        PlantedBug{"FeaturesOfTheNextVector", false,
                   "of_warp.totals[v] = warp_totals[other][v * kFeatureLanes",
                   "of_warp.totals[v] = warp_totals[other][(v ^ 1) * kFeatureLanes"},
        PlantedBug{"PartsExchanged", false, "join_on_way(parts[v], shuffle_down(parts[v], delta))",
                   "join_on_way(shuffle_down(parts[v], delta), parts[v])"},
        PlantedBug{"ReadsOnePieceAlone", false, "is_told = is_told && unsigned(word >> 32) == tag;",
                   "is_told = k > 0 || v > 0 ? is_told : unsigned(word >> 32) == tag;"},
        PlantedBug{"TellsTooEarly", false, "const bool is_late = is_inside", "const bool is_late = false"},
        PlantedBug{"SpanForgotten", false, "turn - turn % kSpanTiles - 1", "turn - turn % kSpanTiles"},
        PlantedBug{"LooksPastTheEntry", false, "const Index first_turn = max(entry_turn, ",
                   "const Index first_turn = max(Index(0), "},
        PlantedBug{"EntryFromTheEndShifted", true, "num_tiles - 1 - (open.end - 1) / kTileRows",
                   "num_tiles - 1 - open.end / kTileRows"},
        PlantedBug{"CarryPastABegin", false, "if (!before.ends)\n                states[v] =", "states[v] ="},
        PlantedBug{"CarryForgotten", false,
                   "group == 0 ? carries[v] : join_on_way(carries[v], before.totals[v])",
                   "group == 0 ? carries[v] : before.totals[v]"},
        PlantedBug{"StateKeptBehindAnEnd", false, "states[v] = enters ? own : join_on_way(states[v], own);",
                   "states[v] = join_on_way(states[v], own);"},
        PlantedBug{"RowsLeftOut", true, "const Index item = begin + count - 1;",
                   "const Index item = begin + count - 2;"},
        PlantedBug{"NoBarrierBeforeTheParts", false,
                   "    __syncthreads();  // all have read what warps have left before\n", ""},
        PlantedBug{"NoBarrierBehindTheParts", false,
                   "    __syncthreads();  // the parts of all warps are there\n", ""},
        PlantedBug{"NoBarrierBehindTheRuns", false,
                   "    __syncthreads();  // all warps have written their runs\n", ""},
        PlantedBug{"TicketsAreNotTurned", false,
                   "    if (threadIdx.x == 0) {\n        taken = atomicAdd(ticket, 1ull);",
                   "    if (threadIdx.x == 0) {\n        taken = blockIdx.x;"},
        PlantedBug{"TicketsGoOn", false, "if (unsigned(taken) == gridDim.x - 1u)", "if (false)"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::scan_rows_test
