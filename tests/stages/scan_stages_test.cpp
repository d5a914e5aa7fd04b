// Running results of columns by CUDA texts on the fiber executor, against plain loops: every form, both
// directions, sizes at the borders of tiles, several schedules; planted bugs.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/simt_backend.h"
#include "tests/common/brief_tests.h"
#include "tests/common/message_of.h"
#include "tests/stages/bugs/bug_schedules.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/scan_cases.h"

namespace segfold::test::scan_stages_test {
namespace {

/// Tiles of 256 items: blocks of two warps, lanes of four items; spans of four tiles.
using Settings = std::map<std::string, int>;
const Settings kSmallest = {{"block_threads", 64}, {"items_per_thread", 4}, {"span_tiles", 4}};
constexpr std::int64_t kTile = 256;

Emitted cuda_text(const Operator& op, const ScanCase& c, const char* name = "running_tiles",
                  const Settings& settings = kSmallest)
{
    const auto& stage = Catalogue::standard().stage(name);
    Problem problem(op, c.form, c.bits);
    if (c.op.tells_places)
        problem.checked_tables = {"code"};
    auto known = settings;
    std::erase_if(known, [&](const auto& setting) {
        return std::ranges::find(stage.tunables, setting.first, &Tunable::name) == stage.tunables.end();
    });
    return emit(problem, stage, configure(stage, known, plan_facts(problem)));
}

Emitted cuda_text(const ScanCase& c, const char* name = "running_tiles", const Settings& settings = kSmallest)
{
    return cuda_text(scan_operator(c.op), c, name, settings);
}

class ScansOnSimt : public testing::TestWithParam<ScanCase> {};

TEST_P(ScansOnSimt, AreThoseOfLoops)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto& c = GetParam();
    const auto emitted = cuda_text(c);
    std::uint64_t seed = 0;
    for (const auto& [name, lengths] : length_cases(64, kTile, true)) {
        if (c.form == SegmentForm::uniform && total(lengths) < 7)
            continue;
        const auto workload = scan_workload(c.op, segments_of(c, lengths));
        const auto expected = scanned_by_loops(workload, c.op);
        for (int round = 0; round < 3; ++round) {
            const auto found =
                simt::run(workload, emitted, simt::options_from_seed(++seed), {}, 1 + round, 2);
            ASSERT_EQ(first_difference(found, expected), "") << name << ", seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, ScansOnSimt, testing::ValuesIn(all_scan_cases()),
                         [](const auto& info) { return print(info.param); });

/// Rows of every number of bytes in shared memory, full tiles and parts of one, arrays that begin anywhere.
TEST(ScanTiles, HaveRowsOfAnyWidth)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    std::uint64_t seed = 0;
    for (const bool reverse : {false, true})
        for (const int items : {8, 16, 32}) {
            const ScanCase c{{.reverse = reverse, .keeps_results = false, .tells_places = false},
                             SegmentForm::offsets};
            const auto emitted =
                cuda_text(c, "running_tiles", {{"block_threads", 64}, {"items_per_thread", items}});
            const std::int64_t tile = 64 * items;
            for (const auto& lengths : {std::vector<std::int64_t>{tile, 3 * tile},
                                        {5, tile / 2, 0, 2 * tile, 7},
                                        std::vector<std::int64_t>(300, 13)}) {
                const auto workload = scan_workload(c.op, segments_of(c, lengths));
                ASSERT_EQ(first_difference(simt::run(workload, emitted, simt::options_from_seed(++seed)),
                                           scanned_by_loops(workload, c.op)),
                          "")
                    << items << " items, seed " << seed;
            }
        }
}

/// Blocks that take whole segments: several of them, one, and one in several tiles.
TEST(WholeSegments, AreThoseOfLoops)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    std::uint64_t seed = 0;
    for (const auto& c : all_scan_cases()) {
        if (c.form != SegmentForm::uniform)
            continue;
        const auto emitted = cuda_text(c, "running_segments");
        for (const std::int64_t length : {1, 2, 7, 13, 16, 25, 63, 64, 100, 128, 255, 256, 257, 512, 1000}) {
            const auto num_segments = 3 * kTile / length + 5;  // more than a block takes
            const auto workload = scan_workload(c.op, uniform_segments(length * num_segments, length));
            const auto expected = scanned_by_loops(workload, c.op);
            for (int round = 0; round < 2; ++round)
                ASSERT_EQ(first_difference(
                              simt::run(workload, emitted, simt::options_from_seed(++seed), {}, 1 + round, 2),
                              expected),
                          "")
                    << print(c) << ", length " << length << ", seed " << seed;
        }
    }
}

/// Segments over several spans and stretches, by schedules that let blocks overtake each other.
TEST(ScansLookBack, OverManyTiles)
{
    for (const bool reverse : {false, true})
        for (const int span_tiles : {4, 32}) {
            const ScanCase c{{.reverse = reverse}, SegmentForm::offsets};
            auto settings = kSmallest;
            settings["span_tiles"] = span_tiles;
            const auto emitted = cuda_text(c, "running_tiles", settings);
            for (const auto& lengths :
                 {std::vector<std::int64_t>{3, 75 * kTile + 5, 0, 2 * kTile, 30 * kTile},
                  {15 * kTile + 100, 25 * kTile, 15 * kTile + 156}}) {
                const auto workload = scan_workload(c.op, segments_of(c, lengths));
                const auto expected = scanned_by_loops(workload, c.op);
                for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
                    ASSERT_EQ(first_difference(
                                  simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2), expected),
                              "")
                        << span_tiles << ", " << lengths.front() << ", seed " << seed;
            }
        }
}

/// Which states are joined does not depend on the progress of blocks. A combine that is not associative shows
/// the grouping, and so do sums of floats that cancel.
TEST(ScansLookBack, InOneGrouping)
{
    for (const bool reverse : {false, true}) {
        const ScanCase c{{.reverse = reverse, .associative = false}, SegmentForm::offsets};
        const auto emitted = cuda_text(c);
        const auto workload = scan_workload(c.op, segments_of(c, {3, 75 * kTile + 5, 0, 2 * kTile}));
        const auto first = simt::run(workload, emitted, schedule_of_seed(1), {}, 1, 2);
        EXPECT_NE(first_difference(first, scanned_by_loops(workload, c.op)), "")
            << "nothing shows the grouping";
        for (std::uint64_t seed = 2; seed <= kSeeds; ++seed)
            ASSERT_EQ(
                first_difference(simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2), first), "")
                << "seed " << seed;
    }
}

TEST(ScansLookBack, GivesFloatSumsTheSameBitsInEveryRun)
{
    const ScanCase c{{.tells_places = false}, SegmentForm::offsets};
    const auto op =
        parse_operator("f",
                       "operator f(x: f32) -> each f32 { state s: f32 = 0 lift x combine(a, b) a + b "
                       "scan(before, through) through laws commutative }");
    const auto emitted = cuda_text(op, c);
    Workload workload{op, {}, {}};
    workload.segments = segments_of(c, {3, 75 * kTile + 5, 0, 2 * kTile});
    workload.arrays.push_back(
        generate_values(Type::f32, workload.segments.num_elements, 5, ValueRange::uniform));
    const auto values = workload.arrays[0].as<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] *= i / 7 % 2 == 0 ? 1e6F : -1e6F;
    const auto first = simt::run(workload, emitted, schedule_of_seed(1), {}, 1, 2);
    for (std::uint64_t seed = 2; seed <= kSeeds; ++seed)
        ASSERT_EQ(first_difference(simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2), first),
                  "")
            << "seed " << seed;
}

TEST(ScanStages, SayWhatTheyTake)
{
    const auto& catalogue = Catalogue::standard();
    const Problem scan(scan_operator({}), SegmentForm::offsets);
    EXPECT_EQ(catalogue.unmet(catalogue.stage("tile_scan"), scan),
              "gives no running results, and operator running has a scan");
    EXPECT_EQ(catalogue.unmet(catalogue.stage("running_tiles"),
                              Problem(standard_operator("sum_i32"), SegmentForm::offsets)),
              "gives running results, and operator sum has no scan");
    EXPECT_EQ(catalogue.rule_of_thumb(scan, {}).name, "running_tiles");
    EXPECT_EQ(Catalogue::native().rule_of_thumb(scan, {}).name, "scan_shares");
}

/// A bug that a person may make.
struct PlantedBug {
    const char* name;
    bool reverse;
    const char* from;
    const char* to;
    bool tells_places = true;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class ScanBugs : public testing::TestWithParam<PlantedBug> {};

/// A bug shows in results, or the executor reports it.
TEST_P(ScanBugs, AreNoticed)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const ScanCase c{{.reverse = GetParam().reverse,
                      .keeps_results = GetParam().tells_places,
                      .tells_places = GetParam().tells_places},
                     SegmentForm::offsets};
    auto settings = kSmallest;
    if (!c.op.tells_places)
        settings["items_per_thread"] = 8;  // more than one step
    auto emitted = cuda_text(c, "running_tiles", settings);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{3, 75 * kTile + 5, 0, 2 * kTile},
          {5, 250, 1, 300, 255, 0, 0, 1000, 7},
          {kTile, 0, 0, 2 * kTile, kTile - 1, 1, 5 * kTile},
          {15 * kTile + 100, 25 * kTile, 15 * kTile + 156}}) {
        const auto workload = scan_workload(c.op, segments_of(c, lengths));
        const auto expected = scanned_by_loops(workload, c.op);
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
    Planted, ScanBugs,
    testing::Values(
        PlantedBug{"OperandsExchanged", false, "return combine(passed, next);",
                   "return combine(next, passed);"},
        PlantedBug{"OperandsExchangedFromTheEnd", true, "return combine(next, passed);",
                   "return combine(passed, next);"},
        PlantedBug{"RunsExchangedFromTheEnd", true, "combine(later.total, earlier.total), earlier.ends",
                   "combine(earlier.total, later.total), earlier.ends"},
        PlantedBug{"LookBackInTheWrongOrder", false, "state = join_on_way(farther, state);",
                   "state = join_on_way(state, farther);"},
        PlantedBug{"FarthestLaneLeftOut", false, "if (lane + delta < count)",
                   "if (lane + delta < count - 1)"},
        PlantedBug{"TellsASpanTooEarly", false, "if (!goes_on && is_last_of_span(turn))",
                   "if (is_last_of_span(turn))"},
        PlantedBug{"TellsAStretchTooEarly", false, "if (!goes_on && is_last_of_stretch(turn))",
                   "if (is_last_of_stretch(turn))"},
        PlantedBug{"SpanOfAnEntryNotTold", false, "if (!goes_on && is_last_of_span(turn))", "if (false)"},
        PlantedBug{"StretchOfAnEntryNotTold", false, "if (!goes_on && is_last_of_stretch(turn))",
                   "if (false)"},
        PlantedBug{"SpansLookPastTheEntry", false, "max(entry / kSpanTiles, stretch * kSpanTiles)",
                   "stretch * kSpanTiles"},
        PlantedBug{"TilesLookPastTheEntry", false, "max(entry, span * kSpanTiles)", "span * kSpanTiles"},
        PlantedBug{"LevelsExchanged", false, "is_known ? join_on_way(farther, before) : farther",
                   "is_known ? join_on_way(before, farther) : farther"},
        PlantedBug{"NearStatesForgotten", false, "is_known ? join_on_way(farther, before) : farther",
                   "farther"},
        PlantedBug{"SpanWithoutItsOtherTiles", false, "is_known ? join_on_way(before, own) : own", "own"},
        PlantedBug{"EntryFromTheEndShifted", true, "gridDim.x) - 1 - segment_last / kTileItems",
                   "gridDim.x) - segment_last / kTileItems"},
        PlantedBug{"ReadsOnePieceAlone", false, "is_told = is_told && unsigned(word >> 32) == tag;",
                   "is_told = k > 0 ? is_told : unsigned(word >> 32) == tag;"},
        PlantedBug{"CarryPastABegin", false, "if (is_inside && !before.ends)", "if (is_inside)"},
        PlantedBug{"CarryForgotten", false, "threadIdx.x == 0 ? carry : join_on_way(carry, before.total)",
                   "threadIdx.x == 0 ? carry : before.total"},
        PlantedBug{"StateKeptBehindAnEnd", false, "state = enters ? next : join_on_way(state, next);",
                   "state = join_on_way(state, next);"},
        PlantedBug{"StepsOfAnotherRow", false, "put_scanned(tile.outputs, own.row,",
                   "put_scanned(tile.outputs, own.row ^ 1,"},
        PlantedBug{"RowsFromTheEndExchanged", true,
                   "return kWarpThreads - 1 - int(threadIdx.x) % kWarpThreads;",
                   "return int(threadIdx.x) % kWarpThreads;"},
        PlantedBug{"StoresBehindTheEnd", false, "mine < bytes; mine += step",
                   "mine < row_bytes * kWarpThreads; mine += step"},
        PlantedBug{"NoZerosBehindTheElements", false,
                   "const int end = count > 0 ? row_bytes * kWarpThreads : 0;", "const int end = bytes;",
                   false},
        PlantedBug{"EntriesOfTheNextStep", false, "next_step(Way& way, int items) { way.entries >>= items; }",
                   "next_step(Way& way, int items) { way.entries >>= items - 1; }", false},
        PlantedBug{"EntriesFromTheEndNotMoved", true, "return {bits << (32 - kItemsPerThread)};",
                   "return {bits};", false},
        PlantedBug{"EntryAtTheTilesLastItemForgotten", true,
                   "segment_end(segments, segment) - 1 - tile_begin",
                   "segment_end(segments, segment) - tile_begin", false},
        PlantedBug{"NoBarrierBehindTheEntries", false, "    __syncthreads();  // all entries are marked\n",
                   "", false},
        PlantedBug{"EntriesOfALaterSegmentForgotten", false, "segment <= last; segment += kBlockThreads",
                   "segment < last; segment += kBlockThreads", false},
        PlantedBug{"OutputsStoredTooEarly", false,
                   "    __syncwarp();  // the outputs of all lanes are in the tile\n", ""},
        PlantedBug{"ElementsTakenTooEarly", false, "    __syncwarp();  // all lanes' copies have come\n", ""},
        PlantedBug{"EmptyOnesNotPassedOver", false, "if (segment_end(segments, segment) <= item)",
                   "if (false)"},
        PlantedBug{"EmptyOnesNotPassedOverFromTheEnd", true, "if (segment_begin(segments, segment) > item)",
                   "if (false)"},
        PlantedBug{"NoBarrierBehindTheCarry", false, "    __syncthreads();  // the carry is written\n", ""},
        PlantedBug{"NoBarrierBehindTheRun", false, "    __syncthreads();  // the tile's run is written\n",
                   ""},
        PlantedBug{"TicketsAreNotTurned", false, "if (turn == Index(unsigned(taken)))\n            break;",
                   "break;"},
        PlantedBug{"CopiedAgainTooEarly", false,
                   "        finish_copy();  // so that the tile can be copied to again\n", ""},
        PlantedBug{"TicketsGoOn", false, "if (unsigned(drawn) == gridDim.x - 1u)", "if (false)"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::scan_stages_test
