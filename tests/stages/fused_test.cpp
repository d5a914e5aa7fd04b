// Stages that fold and map in one launch, on the fiber executor: rows kept by a group, tiles kept by a warp,
// longer segments, and planted bugs.
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::test::fused_test {
namespace {

Comparison compare(const Workload& workload, const Emitted& emitted, int multiprocessors, std::uint64_t seed)
{
    return Judge(workload).compare(
        simt::run(workload, emitted, simt::options_from_seed(seed), {}, multiprocessors, 2));
}

TEST(FusedOnSimt, RowsAreMapped)
{
    using enum SegmentForm;
    struct Case {
        SegmentForm form;
        Operator op;
        std::vector<std::int64_t> features;
        Configuration settings = {};
        int bits = 32;
    };
    const Configuration few = {
        {"row_lanes", 4}, {"feature_lanes", 2}, {"rows_per_step", 2}, {"kept_steps", 2}};
    const auto& stage = Catalogue::standard().stage("fused_row_groups");
    for (const auto& c : std::vector<Case>{
             {offsets, rows_told_back(true), {8, 3, 64}, few},
             {offsets, rows_told_back(false), {64, 33, 1}},
             {uniform, rows_told_back(false), {16, 33}, {{"kept_steps", 1}, {"block_threads", 32}}},
             {ranges, rows_told_back(true), {4, 7}, few},
             {whole,
              rows_told_back(true),
              {8},
              {{"features_per_lane", 1}, {"feature_lanes", 1}, {"row_lanes", 32}}},
             {offsets, rows_by_tables(), {8, 3, 64}, few},
             {ranges, rows_by_tables(), {4, 7}},
             {offsets, rows_of_several(), {8, 5}, few, 64},
             {offsets, over_rows(standard_operator("softmax_f32")), {8}, few},
             {uniform, over_rows(standard_operator("softmax_backward_f64")), {4, 7}}}) {
        const auto emitted = emitted_for(c.op, stage, c.form, c.features[0], c.settings, c.bits);
        for (const auto num_features : c.features)
            for (const std::uint64_t seed : {1, 2}) {
                auto segments = c.form == uniform  ? uniform_segments(35 * 9, 9)
                                : c.form == ranges ? segments_from_ranges(index_array({60, 0, 9, 9}),
                                                                          index_array({75, 9, 9, 41}), 80)
                                : c.form == whole
                                    ? whole_segments(300)
                                    : segments_in_form(c.form, {0, 1, 15, 16, 17, 0, 0, 31, 33, 2, 70, 3, 0});
                const auto workload = rows_of_numbers(c.op, with_index_bits(std::move(segments), c.bits),
                                                      num_features, 5 + seed);
                const auto comparison = compare(workload, emitted, 3, seed);
                ASSERT_TRUE(comparison.agrees()) << c.op.name << ", " << name(c.form) << ", " << num_features
                                                 << " features: " << print(comparison);
            }
    }
}

/// Emits fused_tiles with 16 or 32 items a thread.
Emitted tiles_for(const Problem& problem, int items_per_thread)
{
    const auto& stage = Catalogue::standard().stage("fused_tiles");
    auto configuration = default_configuration(stage, plan_facts(problem));
    configuration["items_per_thread"] = items_per_thread;
    configuration["block_threads"] = items_per_thread == 16 ? 64 : 32;
    return emit(problem, stage, configuration);
}

TEST(FusedOnSimt, ColumnsAreMapped)
{
    std::uint64_t seed = 0;
    for (const bool keeps_results : {true, false})
        for (const int bits : {32, 64}) {
            const auto op = told_back(keeps_results);
            const int items = keeps_results == (bits == 32) ? 16 : 32;
            const auto emitted = tiles_for(Problem(op, SegmentForm::offsets, bits), items);
            for (const auto& lengths : tile_lists(32 * items)) {
                const auto workload = make_workload(
                    op, with_index_bits(segments_in_form(SegmentForm::offsets, lengths), bits), 7);
                const auto comparison = compare(workload, emitted, lengths.size() % 2 == 0 ? 1 : 3, ++seed);
                ASSERT_TRUE(comparison.agrees())
                    << lengths.size() << " segments of " << total(lengths) << ": " << print(comparison);
            }
        }
    for (const auto& op : {several_outputs(), told_back(true), in_parts(), told_by_tables(true)})
        for (const std::int64_t length : {3, 512, 1030}) {
            const auto workload = make_workload_with_tables(op, uniform_segments(length * 7, length), 3);
            const auto comparison =
                compare(workload, tiles_for(Problem(op, SegmentForm::uniform), 32), 2, ++seed);
            ASSERT_TRUE(comparison.agrees()) << op.name << ", " << length << ": " << print(comparison);
        }
}

/// Of tables that are just long enough, nothing else is read: of none for items that are in no segment of the
/// tile, or behind the last one.
TEST(FusedOnSimt, TablesAreReadForElementsAlone)
{
    std::uint64_t seed = 0;
    for (const int bits : {32, 64}) {
        const auto op = told_by_tables(bits == 32);
        Problem problem(op, SegmentForm::offsets, bits);
        problem.checked_tables = tables_of(op);
        const auto emitted = tiles_for(problem, bits == 32 ? 16 : 32);
        for (const auto& lengths : tile_lists(bits == 32 ? 512 : 1024)) {
            const auto workload = make_workload_with_tables(
                op, with_index_bits(segments_in_form(SegmentForm::offsets, lengths), bits), 7);
            const auto comparison = compare(workload, emitted, lengths.size() % 2 == 0 ? 1 : 3, ++seed);
            ASSERT_TRUE(comparison.agrees())
                << lengths.size() << " segments of " << total(lengths) << ": " << print(comparison);
        }
    }
}

TEST(FusedOnSimt, OthersAreRefusedInWords)
{
    const auto& catalogue = Catalogue::standard();
    const auto why = [&](const char* stage, const Operator& op) {
        return catalogue.unmet(catalogue.stage(stage), Problem(op, SegmentForm::offsets)).value_or("");
    };
    const auto rows = over_rows(standard_operator("sum_i32"));
    EXPECT_NE(why("fused_row_groups", rows).find("operator sum has no map"), std::string::npos);
    EXPECT_NE(why("fused_tiles", standard_operator("sum_i32")).find("operator sum has no map"),
              std::string::npos);
    EXPECT_NE(why("fused_tiles", rows_told_back(true)).find("has rows"), std::string::npos);
    EXPECT_NE(why("fused_row_groups", told_back(true)).find("has no parameter of rows"), std::string::npos);
    EXPECT_EQ(why("fused_row_groups", rows_told_back(true)), "");
    EXPECT_EQ(why("fused_tiles", told_back(false)), "");
}

/// Results that only map reads take no memory, and no second launch maps.
TEST(FusedOnSimt, NothingButOutputsIsWritten)
{
    const auto& stage = Catalogue::standard().stage("fused_tiles");
    const Problem problem(standard_operator("softmax_f32"), SegmentForm::offsets);
    const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
    EXPECT_EQ(emitted.launches.size(), 1u);
    for (const auto& scratch : emitted.scratch)
        EXPECT_EQ(scratch.count.value({}), 1) << scratch.name;
}

/// Values that are equal for all elements of a segment are computed once, when the segment is finished.
TEST(FusedOnSimt, LetsOfASegmentAreEvaluatedOnce)
{
    const auto text = tiles_for(Problem(in_parts(), SegmentForm::offsets), 16).source;
    const auto at = [&](const char* words) { return text.find(words); };
    EXPECT_LT(at("const float share = 1.0f / whole;"), at("map_with_values(")) << text;
    EXPECT_GT(at("const float part = x * share;"), at("map_with_values("));
    EXPECT_NE(at("float x, float share"), std::string::npos);
}

TEST(FusedOnSimt, TablesOfASegmentAreReadOnce)
{
    const auto text = tiles_for(Problem(told_by_tables(true), SegmentForm::offsets), 16).source;
    const auto at = [&](const char* words) { return text.find(words); };
    EXPECT_LT(at("const u64 by_segment = code[segment] * scale[0ll] + u64(mix[hash & 15]);"),
              at("map_with_values("))
        << text;
    EXPECT_GT(at("const u64 by_place = u64(weight[position]) * 1000003;"), at("map_with_values("));
    EXPECT_EQ(text.find("code[segment]", at("map_with_values(")), std::string::npos);
}

struct Planted {
    const char* from;
    const char* to;
};

Emitted with_bug(Emitted emitted, const Planted& bug)
{
    const auto at = emitted.source.find(bug.from);
    EXPECT_NE(at, std::string::npos) << bug.from;
    if (at != std::string::npos)
        emitted.source.replace(at, std::string_view(bug.from).size(), bug.to);
    return emitted;
}

/// Whether some workload and schedule shows the planted bug.
bool is_found(const std::vector<Workload>& workloads, const Emitted& planted)
{
    for (const auto& workload : workloads)
        for (const std::uint64_t seed : {1, 2, 3}) {
            try {
                if (!compare(workload, planted, seed == 1 ? 1 : 3, seed).agrees())
                    return true;
            } catch (const simt::SimtError&) {
                return true;
            } catch (const InputError&) {  // about a table that is read outside of its length
                return true;
            }
        }
    return false;
}

TEST(FusedOnSimt, PlantedBugsInTilesAreFound)
{
    const auto op = told_back(true);
    const auto emitted = tiles_for(Problem(op, SegmentForm::offsets), 16);
    std::vector<Workload> workloads;
    for (const auto& lengths : tile_lists(512))
        workloads.push_back(make_workload(op, segments_in_form(SegmentForm::offsets, lengths), 7));
    for (const auto& bug : std::initializer_list<Planted>{
             {"combine(before, desk.totals[first])", "combine(desk.totals[first], before)"},
             {"run = combine(run, lift_at(inputs, segments, items, k, place))",
              "run = combine(lift_at(inputs, segments, items, k, place), run)"},
             {"total = combine(total, warp_reduce(run))", "total = combine(warp_reduce(run), total)"},
             {"__syncwarp();  // all lanes are done with the tile before", ";  //"},
             {"__syncwarp();  // all bits are 0", ";  //"},
             {"__syncwarp();  // the tile has been copied, and its ends are written", ";  //"},
             {"__syncwarp();  // all totals are written", ";  //"},
             {"__syncwarp();  // all values are written", ";  //"},
             {"__syncwarp();  // all lanes have read the tile", ";  //"},
             {"end <= tile_begin + kTileItems", "end <= tile_begin + kTileItems + 1"},
             {"end != (lane == 0 ? before : up)", "true"},
             {"(unsigned char)(k * kWarpThreads + lane)", "(unsigned char)(slot - 1)"},
             {"if (is_inside && !has_items)", "if (false)"},
             {"const int last = int(end - tile_begin) - 1", "const int last = int(end - tile_begin) - 2"},
             {"slot += lane >= delta ? earlier : 0", "slot += lane > delta ? earlier : 0"},
             {"(begin > tile_begin ? 0 : 1)", "1"},
             {"run = identity();\n            }", "}"},
             {"desk.values[slot + 1] = its_values", ";"},
             {"place >= begin && place + kMapItems <= end", "place + kMapItems <= end"},
             {"if (place + k >= begin && place + k < end)", "if (place + k < end)"},
             {"if (place >= begin && place < end)", "if (place < end)"},
             {"max(found.num_segments, 1)", "found.num_segments + 1"}})
        EXPECT_TRUE(is_found(workloads, with_bug(emitted, bug))) << bug.from;
}

TEST(FusedOnSimt, ReadsOfOthersTablesAreFound)
{
    const auto op = told_by_tables(true);
    Problem problem(op, SegmentForm::offsets);
    problem.checked_tables = tables_of(op);
    const auto planted =
        with_bug(tiles_for(problem, 16),
                 {"if (place + k >= begin && place + k < end)\n                keep_output", "keep_output"});
    std::vector<Workload> workloads;
    for (const auto& lengths : tile_lists(512))
        workloads.push_back(
            make_workload_with_tables(op, segments_in_form(SegmentForm::offsets, lengths), 7));
    EXPECT_TRUE(is_found(workloads, planted));
}

/// Lanes that are joined and have more features each than lanes are joined, as many, and fewer.
TEST(FusedOnSimt, JoinedLanesAllGetTheTotals)
{
    const auto op = rows_of_shares();
    const auto& stage = Catalogue::standard().stage("fused_row_groups");
    Emitted even;
    std::vector<Workload> workloads;
    for (const auto& [features, lanes] : {std::pair{4, 2}, {2, 4}, {8, 8}, {2, 16}, {1, 8}, {4, 4}}) {
        auto emitted = emitted_for(op, stage, SegmentForm::offsets, 8,
                                   {{"features_per_lane", features},
                                    {"feature_lanes", 2},
                                    {"row_lanes", lanes},
                                    {"rows_per_step", 2},
                                    {"kept_steps", 2}});
        for (const std::int64_t num_features : {8, 3, 20}) {
            workloads.clear();
            workloads.push_back(
                rows_of_numbers(op, segments_in_form(SegmentForm::offsets, {0, 1, 15, 17, 0, 31, 33, 2, 71}),
                                num_features, 5));
            const auto comparison = compare(workloads[0], emitted, 3, 1);
            ASSERT_TRUE(comparison.agrees())
                << features << " features a lane, " << lanes << " lanes: " << print(comparison);
        }
        even = std::move(emitted);
    }
    for (const auto& bug : std::initializer_list<Planted>{
             {"(row_lane & delta) != 0", "(row_lane & delta) == 0"},
             {"lane ^ delta * kFeatureLanes", "lane ^ delta"},
             {"const int half = count / 2;", "const int half = 1;"},
             {"row_lane_of += delta;", "row_lane_of += 1;"},
             {"place -= size;", ";"},
             {"(row_lane_of - row_lane) * kFeatureLanes", "(row_lane_of - row_lane)"}})
        EXPECT_TRUE(is_found(workloads, with_bug(even, bug))) << bug.from;
}

TEST(FusedOnSimt, PlantedBugsInRowsAreFound)
{
    const auto& stage = Catalogue::standard().stage("fused_row_groups");
    const auto op = rows_told_back(true);
    const auto emitted = emitted_for(op, stage, SegmentForm::offsets, 8,
                                     {{"row_lanes", 4},
                                      {"feature_lanes", 2},
                                      {"rows_per_step", 2},
                                      {"kept_steps", 2},
                                      {"segments_per_group", 2}});
    std::vector<Workload> workloads;
    for (const std::int64_t num_features : {8, 3})
        workloads.push_back(
            rows_of_numbers(op, segments_in_form(SegmentForm::offsets, {0, 1, 15, 16, 17, 0, 31, 33, 2, 71}),
                            num_features, 5));
    for (const auto& bug : std::initializer_list<Planted>{
             {"combine(parts[v], shuffle_down(parts[v], delta))",
              "combine(shuffle_down(parts[v], delta), parts[v])"},
             {"combine(totals[v], parts[v])", "combine(parts[v], totals[v])"},
             {"parts[v] = combine(parts[v], state)", "parts[v] = combine(state, parts[v])"},
             {"__any_sync(kFullMask, first < part.length)", "__all_sync(kFullMask, first < part.length)"},
             {"first + (k + 1) * groups + group", "first + k * groups + group"},
             {"min(position + k * kStride, part.length - 1)", "position + k * kStride"},
             {"% kWarpThreads - row_lane * kFeatureLanes", "% kWarpThreads"},
             {"row_lane * kRowsPerStep", "row_lane"},
             {"position + k * kStride >= part.length", "position + k * kStride > part.length"},
             {"rows[k] = kept.rows[first / kStepRows][k]", "rows[k] = kept.rows[0][k]"},
             {"if (first < kKept * kStepRows) {", "if (first <= kKept * kStepRows) {"},
             {"if (row_lane == 0)\n        store_results",
              "if (row_lane == kRowLanes)\n        store_results"}})
        EXPECT_TRUE(is_found(workloads, with_bug(emitted, bug))) << bug.from;
}

}  // namespace
}  // namespace segfold::test::fused_test
