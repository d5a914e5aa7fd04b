// Every native stage x operator x layout x shape on the host's cores, against the reference; planted bugs.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/catalogue.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/program.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/library_cases.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/ways.h"

namespace segfold::test::native_stages_test {
namespace {

constexpr int kLanes = 16;

struct StageCase {
    std::string stage;
    std::string op;
};

std::string print(const StageCase& c) { return c.stage + "_" + c.op; }

[[maybe_unused]] void PrintTo(const StageCase& c, std::ostream* out) { *out << print(c); }

/// Shares and tiles as small as they may be, so that few elements fill several of them.
Configuration small_configuration(const Stage& stage)
{
    std::map<std::string, int> chosen;
    for (const auto& tunable : stage.tunables)
        if (tunable.name == "share_steps" || tunable.name == "lane_items")
            chosen[tunable.name] = std::ranges::min(tunable.values);
    return configure(stage, chosen);
}

std::vector<StageCase> all_cases()
{
    std::vector<StageCase> cases;
    for (const auto& stage : Catalogue::native().stages())
        for (const auto& op : kMatrixOperators)
            if (serves(Catalogue::native(), stage, op))
                cases.push_back({stage.name, op});
    return cases;
}

Results run_native(const Workload& workload, const Emitted& emitted)
{
    const auto backend = make_backend("cpu");
    return backend->run(workload, &emitted, {.launches = 2, .shifted_elements = 1, .scratch_poison = 0xa5});
}

class NativeStages : public testing::TestWithParam<StageCase> {
protected:
    void SetUp() override
    {
        if (GetParam().op != "trace_u64" && GetParam().op != "mean_variance_f32")
            compile_briefly();
        if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
            GTEST_SKIP() << reason;
    }
};

void expect_agreement(const Stage& stage, const std::string& op, Way way)
{
    const Problem problem(standard_operator(op), form_of(way.kind), way.index_bits);
    const auto configuration = small_configuration(stage);
    const auto emitted = emit(problem, stage, configuration, Catalogue::native());
    const auto lane_items = configuration.find("lane_items");
    const int tile = kLanes * (lane_items == configuration.end() ? kLanes : lane_items->second);
    for (const auto& shape : segment_cases(way.kind, kLanes, tile, problem.op.allows_empty())) {
        const auto workload = make_workload(op, with_index_bits(shape.segments.copy(), way.index_bits), 11);
        const auto comparison = Judge(workload).compare(run_native(workload, emitted));
        ASSERT_TRUE(comparison.agrees()) << shape.name << ": " << segfold::print(comparison);
    }
}

/// All layouts in one process: those that a stage reads in the same form have one text, compiled once. Exact
/// and not commutative, and rounding: these are compiled as runs compile. What others have besides is in
/// their text, whatever the optimiser makes of it.
TEST_P(NativeStages, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto& stage = Catalogue::native().stage(GetParam().stage);
    for (const auto way : ways(Catalogue::native(), stage, GetParam().op)) {
        SCOPED_TRACE(std::string(name(way.kind)) + ", " + std::to_string(way.index_bits) + "-bit indices");
        expect_agreement(stage, GetParam().op, way);
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, NativeStages, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// So many short segments that a tile has several blocks of them; the shortest have `least` elements.
void append_short(std::vector<std::int64_t>& lengths, std::int64_t least)
{
    for (std::int64_t k = 0; k < 900; ++k)
        lengths.push_back(least + k * 7 % (k % 300 < 200 ? 3 : 2));
}

/// Operators of every size of state and column, arrays and scalars, on one mixture of lengths, compiled as
/// runs compile; native_library_test has the others.
class NativeOperators : public testing::TestWithParam<std::string> {};

TEST_P(NativeOperators, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = standard_operator(GetParam());
    const auto& catalogue = Catalogue::native();
    const std::int64_t first = op.allows_empty() ? 0 : 2;
    std::vector<std::int64_t> lengths = {first, 3, 700, 1, first, 2500, 17, 5, 6000, 1, 16, 15};
    append_short(lengths, first == 0 ? 0 : 1);
    for (const auto kind : {LayoutKind::offsets, LayoutKind::ranges}) {
        const auto workload = library_workload(op, segments_in_form(form_of(kind), lengths), 5);
        const Problem problem(op, form_of(kind));
        const Judge judge(workload);
        for (const auto& stage : catalogue.stages()) {
            if (catalogue.unmet(stage, problem))
                continue;
            const auto emitted = emit(problem, stage, small_configuration(stage), catalogue);
            const auto comparison = judge.compare(run_native(workload, emitted));
            EXPECT_TRUE(comparison.agrees()) << stage.name << ": " << segfold::print(comparison);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Standard, NativeOperators,
                         testing::Values("sum_i8", "sum_u16", "sum_f16", "max_bf16", "min_f64", "any",
                                         "argmax_f32", "mean_variance_f64", "log_sum_exp_f32", "affine_u64",
                                         "keep_first_f16", "histogram_8_i32", "top_four_f32",
                                         "sum_power_f32"),
                         [](const auto& info) { return info.param; });

/// A bug that a person may make, and the text in which it is made.
struct PlantedBug {
    std::string name, stage, from, to;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class NativeBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(NativeBugs, AreNoticed)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto& bug = GetParam();
    const auto& stage = Catalogue::native().stage(bug.stage);
    std::vector<std::int64_t> lengths = {700,  0,  3,  40,   33, 64, 31,  45, 12, 9,  77, 20, 3,  1,  5,  28,
                                         2500, 17, 5,  6000, 1,  90, 50,  60, 70, 80, 1,  2,  3,  4,  5,  6,
                                         7,    8,  9,  10,   11, 12, 900, 20, 31, 17, 32, 1,  30, 22, 18, 5,
                                         20,   31, 17, 32,   1,  30, 22,  18, 5,  20, 31, 17, 32, 1,  30, 22,
                                         18,   5,  20, 31,   17, 32, 1,   30, 22, 18, 5,  20};
    append_short(lengths, 0);
    // Segments of whole tiles, each with the tile's first item at its begin.
    const auto tile =
        std::int64_t{kLanes} * small_configuration(Catalogue::native().stage("lane_scan")).at("lane_items");
    const auto so_far = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    lengths.push_back((so_far / tile + 1) * tile - so_far);
    for (const std::int64_t tiles : {3, 1, 2, 4, 5, 1, 1, 2, 7, 3, 3, 2})
        lengths.push_back(tiles * tile);
    lengths.push_back(5);
    const auto workload = make_workload("trace_u64", segments_in_form(SegmentForm::offsets, lengths), 5);
    const Problem problem(workload.op, SegmentForm::offsets);
    auto emitted = emit(problem, stage, small_configuration(stage), Catalogue::native());
    const Judge judge(workload);
    const auto at = emitted.source.find(bug.from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    ASSERT_TRUE(judge.compare(run_native(workload, emitted)).agrees());
    emitted.source.replace(at, bug.from.size(), bug.to);
    EXPECT_FALSE(judge.compare(run_native(workload, emitted)).agrees());
}

INSTANTIATE_TEST_SUITE_P(
    Planted, NativeBugs,
    testing::Values(
        PlantedBug{"SwappedJoinOfShares", "lane_scan", "combine(carry, share_heads[share])",
                   "combine(share_heads[share], carry)"},
        PlantedBug{"DroppedCarryOfShares", "vector_per_segment",
                   "is_open ? combine(carry, share_tails[share]) : share_tails[share]", "share_tails[share]"},
        PlantedBug{"SwappedJoinOfLanes", "lane_scan", "combine(get(carry, copy), total)",
                   "combine(total, get(carry, copy))"},
        PlantedBug{"DroppedCarryOfLanes", "lane_scan", "choose(is_cut, combine(carry, total), total)",
                   "total"},
        PlantedBug{"DroppedCarryOfManySegments", "lane_scan",
                   "choose((open & kLaneBits[lane]) != 0, joined, total)", "total"},
        PlantedBug{"CarryTooFar", "lane_scan", "open &= ~tile.heads[k];", ""},
        PlantedBug{"HeadAtTheNextItem", "lane_scan", "slot_of(segment_end(all, last) - item)",
                   "slot_of(segment_end(all, last) - item + 1)"},
        PlantedBug{"HeadsAtTheNextItems", "lane_scan", "slot_of(segment_end(all, last + k) - item)",
                   "slot_of(segment_end(all, last + k) - item + 1)"},
        PlantedBug{"BlockOfHeadsLeftOut", "lane_scan",
                   "if (count == kBlockSegments) {\n            mark_slots(marks, slots, count);",
                   "if (count == kBlockSegments) {"},
        PlantedBug{"SwappedJoinOfTheInside", "lane_scan", "combine(open, total) : total;",
                   "combine(total, open) : total;"},
        PlantedBug{"OpenTotalOfAnotherSegment", "lane_scan",
                   "segment_begin(segments, segment) < item ? combine(open, total) : total;",
                   "combine(open, total);"},
        PlantedBug{"LastTileOfTheInside", "lane_scan", "segment_end(segments, segment) - 1;",
                   "segment_end(segments, segment);"},
        PlantedBug{"SwappedAppend", "vector_per_segment", "combine(get(totals, lane), later)",
                   "combine(later, get(totals, lane))"},
        PlantedBug{"SwappedJoinOfRows", "row_tree", "combine(get(earlier, lane), get(later, lane))",
                   "combine(get(later, lane), get(earlier, lane))"},
        PlantedBug{"ShortRowOfManyTakenWhole", "row_tree",
                   "rows.length[num_rows + row] = left < kLanes ? left : kLanes",
                   "rows.length[num_rows + row] = kLanes"},
        PlantedBug{"SecondRoundLeftOut", "row_tree", "join_vectors(totals, first, second)",
                   "join_vectors(totals, second, second)"},
        PlantedBug{"LanesOfPairsOutOfOrder", "row_tree", "level == 0   ? low_pairs",
                   "level == 1   ? low_pairs"},
        PlantedBug{"LastItemOfASegmentLeftOut", "lane_per_segment", "if (position < length[lane])",
                   "if (position + 1 < length[lane])"}),
    [](const auto& info) { return info.param.name; });

TEST(NativeProgram, GivesTheSameBitsEachTime)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = standard_operator("sum_f32");
    const auto workload =
        make_workload(op, segments_in_form(SegmentForm::offsets, {100000, 3, 70000, 12}), 5);
    const Problem problem(op, SegmentForm::offsets);
    for (const auto& stage : Catalogue::native().stages()) {
        if (Catalogue::native().unmet(stage, problem))
            continue;
        const auto emitted = emit(problem, stage, small_configuration(stage), Catalogue::native());
        const auto first = run_native(workload, emitted);
        for (int i = 0; i < 20; ++i) {
            const auto again = run_native(workload, emitted);
            ASSERT_EQ(std::memcmp(first[0].array.data(), again[0].array.data(), first[0].array.bytes()), 0);
        }
    }
}

}  // namespace
}  // namespace segfold::test::native_stages_test
