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

/// Tiles of 256 items: blocks of two warps, lanes of four items.
const std::map<std::string, int> kSmallest = {{"block_threads", 64}, {"items_per_thread", 4}};
constexpr std::int64_t kTile = 256;

Emitted cuda_text(const ScanCase& c)
{
    const auto& stage = Catalogue::standard().stage("running_tiles");
    Problem problem(scan_operator(c.op), c.form, c.bits);
    problem.checked_tables = {"code"};
    return emit(problem, stage, configure(stage, kSmallest, plan_facts(problem)));
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

/// A segment over more tiles than a warp looks back at once, by schedules that let blocks overtake each
/// other.
TEST(ScansLookBack, OverManyTiles)
{
    for (const bool reverse : {false, true}) {
        const ScanCase c{{.reverse = reverse}, SegmentForm::offsets};
        const auto emitted = cuda_text(c);
        const auto workload = scan_workload(c.op, segments_of(c, {3, 75 * kTile + 5, 0, 2 * kTile}));
        const auto expected = scanned_by_loops(workload, c.op);
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
            ASSERT_EQ(
                first_difference(simt::run(workload, emitted, schedule_of_seed(seed), {}, 40, 2), expected),
                "")
                << "seed " << seed;
    }
}

/// Where no tile but the first tells a whole state, each looks back to the first, in several rounds.
TEST(ScansLookBack, InSeveralRounds)
{
    const ScanCase c{{}, SegmentForm::offsets};
    auto emitted = cuda_text(c);
    const auto replace = [&](const std::string& from, const std::string& to) {
        const auto at = emitted.source.find(from);
        ASSERT_NE(at, std::string::npos) << "the text has changed; write '" << from << "' anew";
        emitted.source.replace(at, from.size(), to);
    };
    const auto workload = scan_workload(c.op, segments_of(c, {75 * kTile + 5}));
    const auto expected = scanned_by_loops(workload, c.op);
    const auto run = [&] { return simt::run(workload, emitted, schedule_of_seed(1), {}, 40, 2); };
    replace("if (!is_known)", "if (false)");
    EXPECT_EQ(first_difference(run(), expected), "");
    replace("join_on_way(state, before);", "join_on_way(before, state);");
    EXPECT_NE(first_difference(run(), expected), "");
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
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class ScanBugs : public testing::TestWithParam<PlantedBug> {};

/// A bug shows in results, or the executor reports it.
TEST_P(ScanBugs, AreNoticed)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const ScanCase c{{.reverse = GetParam().reverse}, SegmentForm::offsets};
    auto emitted = cuda_text(c);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{3, 75 * kTile + 5, 0, 2 * kTile},
          {5, 250, 1, 300, 255, 0, 0, 1000, 7},
          {kTile, 0, 0, 2 * kTile, kTile - 1, 1, 5 * kTile}}) {
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
        PlantedBug{"FarthestLaneLeftOut", false, "if (lane + delta <= last)", "if (lane + delta < last)"},
        PlantedBug{"AnyWordIsWhole", false, "is_known ? kWholeState : kOwnState", "kWholeState"},
        PlantedBug{"ReadsOnePieceAlone", false, "what = k == 0 || what == its_kind ? its_kind : 0u;",
                   "what = k == 0 ? its_kind : what;"},
        PlantedBug{"CarryPastABegin", false, "if (is_inside && !before.ends)", "if (is_inside)"},
        PlantedBug{"CarryForgotten", false, "threadIdx.x == 0 ? carry : join_on_way(carry, before.total)",
                   "threadIdx.x == 0 ? carry : before.total"},
        PlantedBug{"StateKeptBehindAnEnd", false, "state = enters ? own : join_on_way(state, own);",
                   "state = join_on_way(state, own);"},
        PlantedBug{"EmptyOnesNotPassedOver", false, "if (segment_end(segments, segment) <= item)",
                   "if (false)"},
        PlantedBug{"EmptyOnesNotPassedOverFromTheEnd", true, "if (segment_begin(segments, segment) > item)",
                   "if (false)"},
        PlantedBug{"NoBarrierBehindTheCarry", false, "    __syncthreads();  // the carry is written\n", ""},
        PlantedBug{"NoBarrierBehindTheRun", false, "    __syncthreads();  // the tile's run is written\n",
                   ""},
        PlantedBug{"TicketsAreNotTurned", false,
                   "    if (threadIdx.x == 0) {\n        taken = atomicAdd(ticket, 1ull);",
                   "    if (threadIdx.x == 0) {\n        taken = blockIdx.x;"},
        PlantedBug{"TicketsGoOn", false, "if (unsigned(taken) == gridDim.x - 1u)", "if (false)"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::scan_stages_test
