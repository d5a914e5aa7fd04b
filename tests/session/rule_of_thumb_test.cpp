// The stage that a run takes if nobody chooses: the `suits` lines of the stages decide.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/shape.h"
#include "tests/common/files.h"

namespace segfold::rule_of_thumb_test {
namespace {

/// Makes operators that are not standard; perhaps only the simplest stage can serve them.
Operator own_operator(const std::string& name)
{
    const auto read = [&](const std::string& text) { return parse_operator(name + ".seg", text); };
    if (name == "by_position")
        return read(
            "operator by_position(x: i64) -> i64 { state s: i64 = 0 lift x * position combine(a, b) a + b }");
    if (name == "by_segment")
        return read(
            "operator by_segment(x: i8) -> i64 { state s: i64 = 0 lift i64(x) * segment combine(a, b) a + b "
            "laws commutative }");
    // Operators with many columns of f64, too wide for some stages. "costly" ones have more than twelve
    // operations.
    const bool costly = name.starts_with("costly_");
    const int count = std::stoi(name.substr(name.find('_') + 1));
    std::string parameters, state, lift, combine;
    for (int i = 0; i < count; ++i) {
        const auto n = std::to_string(i);
        parameters += (i == 0 ? "x" : ", x") + n + ": f64";
        state += "s" + n + ": f64 = 0; ";
        lift += "s" + n + " = x" + n + "; ";
        combine += "s" + n + " = a.s" + n + " + b.s" + n +
                   (costly ? " + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0" : "") + "; ";
    }
    return read("operator " + name + "(" + parameters + ") { state { " + state + "} lift { " + lift +
                "} combine(a, b) { " + combine + "} }");
}

const std::vector<std::string> kOperators = {
    "sum_f32",         "sum_f16",          "sum_i8",        "sum_f64",
    "count_i64",       "affine_u32",       "argmax_f32",    "trace_u64",
    "affine_f64",      "keep_first_i32",   "keep_first_i8", "welford_mean_variance_f32",
    "log_sum_exp_f32", "max_subarray_i32", "by_position",   "by_segment",
    "wide_3",          "wide_12",          "costly_4",      "costly_8"};

Operator operator_of(const std::string& name)
{
    return is_standard_operator(name) ? standard_operator(name) : own_operator(name);
}

constexpr SegmentForm kForms[] = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                  SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};

struct Case {
    std::string op;
    SegmentForm form = SegmentForm::offsets;
    std::string refuted;  ///< the law that is refuted: "associative", "commutative" or ""
    Shape shape;
};

Problem problem_of(const Case& c, const Operator& op)
{
    Problem problem(op, c.form);
    if (c.refuted == "commutative")
        problem.laws.commutative = false;
    if (c.refuted == "associative")
        problem.laws = {false, false, false};
    return problem;
}

/// tests/data/rule_of_thumb.csv holds shapes near the borders of stages' `suits` lines, with the stage to
/// take.
TEST(RuleOfThumb, TakesTheStagesOfTheTable)
{
    std::map<std::string, Operator> operators;
    for (const auto& name : kOperators)
        operators.emplace(name, operator_of(name));
    std::ifstream table(SEGFOLD_SOURCE_DIR "/tests/data/rule_of_thumb.csv");
    std::string row;
    std::getline(table, row);
    ASSERT_EQ(row, "operator,form,refuted,elements,segments,longest,stage");
    std::map<std::string, int> taken;
    while (std::getline(table, row)) {
        std::istringstream cells(row);
        Case c;
        std::string form, stage;
        char comma = 0;
        std::getline(cells, c.op, ',');
        std::getline(cells, form, ',');
        std::getline(cells, c.refuted, ',');
        cells >> c.shape.num_elements >> comma >> c.shape.num_segments >> comma >> c.shape.longest >> comma >>
            stage;
        ASSERT_TRUE(cells && operators.contains(c.op)) << row;
        const auto* known = std::ranges::find(kForms, form, [](SegmentForm f) { return name(f); });
        ASSERT_NE(known, std::end(kForms)) << row;
        c.form = *known;
        EXPECT_EQ(Catalogue::standard().rule_of_thumb(problem_of(c, operators.at(c.op)), c.shape).name, stage)
            << row;
        ++taken[stage];
    }
    EXPECT_EQ(taken.size(), 12u);
    for (const auto& [stage, count] : taken)
        EXPECT_GE(count, 14) << stage;
}

/// Returns the stage for segments by offsets. Padding in slices makes `padded` elements of the segments'
/// `elements`.
std::string taken(const std::string& op, std::int64_t elements, std::int64_t segments, std::int64_t longest,
                  std::int64_t padded)
{
    const Problem problem(standard_operator(op), SegmentForm::offsets);
    return Catalogue::standard().rule_of_thumb(problem, {elements, segments, longest, 0, padded}).name;
}

TEST(RuleOfThumb, AsksWhetherLengthsAreSorted)
{
    EXPECT_EQ(taken("sum_f64", 1040000, 43000, 17000, 18000000), "group_or_grid");
    EXPECT_EQ(taken("sum_f64", 1040000, 43000, 17000, 1300000), "gather_tiles");
    EXPECT_EQ(taken("sum_f64", 1000000, 30000, 17000, 0), "group_or_grid") << "as if shuffled, unknown";
    EXPECT_EQ(taken("sum_f32", 20000000, 6000000, 20000, 20500000), "lean_stream");
    EXPECT_EQ(taken("sum_f32", 20000000, 6000000, 20000, 60000000), "warp_stream") << "are not sorted";
}

/// Segments that some threads or a block can keep are read once; giants among others are left to two
/// launches.
TEST(RuleOfThumb, KeepsSegmentsInRegistersUntilTheyAreMapped)
{
    const auto of_one_length = [](std::int64_t length, std::int64_t segments) {
        const Problem problem(standard_operator("softmax_f32"), SegmentForm::uniform);
        return Catalogue::standard().rule_of_thumb(problem, {length * segments, segments, length, 0, 0}).name;
    };
    EXPECT_EQ(of_one_length(63, 100000), "fused_tiles");
    for (const std::int64_t length : {64, 100, 1001, 32768})
        EXPECT_EQ(of_one_length(length, 300), "fused_blocks") << length;
    EXPECT_EQ(of_one_length(262144, 1024), "fused_blocks");
    EXPECT_NE(of_one_length(262144, 300), "fused_blocks") << "which are too few for a block each";
    EXPECT_NE(of_one_length(262145, 1024), "fused_blocks");
    EXPECT_EQ(taken("softmax_f32", 1000000, 1000, 2000, 0), "fused_blocks");
    EXPECT_EQ(taken("softmax_f32", 1000000, 1000, 65536, 0), "fused_blocks");
    EXPECT_NE(taken("softmax_f32", 1000000, 1000, 65537, 0), "fused_blocks") << "one block would work alone";
    EXPECT_EQ(taken("softmax_f32", 1000000, 10000, 200, 0), "fused_blocks");
    EXPECT_EQ(taken("softmax_f32", 1000000, 10000, 201, 0), "fused_tiles") << "which packs short ones";
}

/// Threads of a segment, and elements that each keeps.
TEST(RuleOfThumb, GivesASegmentAsManyThreadsAsKeepIt)
{
    const auto& stage = Catalogue::standard().stage("fused_blocks");
    const auto kept = [&](const char* op, SegmentForm form, const Shape& shape) {
        const auto configuration =
            default_configuration(stage, plan_facts(Problem(standard_operator(op), form), shape));
        return std::pair(configuration.at("segment_threads"), configuration.at("items_per_thread"));
    };
    const auto of_one_length = [&](const char* op, std::int64_t length) {
        return kept(op, SegmentForm::uniform, {length * 1000, 1000, length, 0, 0});
    };
    EXPECT_EQ(of_one_length("softmax_f32", 100), std::pair(4, 32));
    EXPECT_EQ(of_one_length("softmax_f32", 1024), std::pair(32, 32));
    EXPECT_EQ(of_one_length("softmax_f32", 4100), std::pair(128, 32)) << "and read four elements again";
    EXPECT_EQ(of_one_length("softmax_f32", 5000), std::pair(256, 24)) << "so that more blocks are at work";
    EXPECT_EQ(of_one_length("softmax_f32", 100000), std::pair(1024, 32));
    EXPECT_EQ(of_one_length("softmax_f64", 1024), std::pair(64, 16));
    EXPECT_EQ(kept("softmax_f32", SegmentForm::offsets, {1000000, 1000, 9000, 0, 0}), std::pair(64, 16));
}

TEST(RuleOfThumb, AsksHowLongAWarpsLanesWait)
{
    // All slices need 7 rounds, or 8.
    EXPECT_EQ(taken("sum_f32", 11000000, 2750000, 8, 19250000), "thread_per_segment");
    EXPECT_EQ(taken("sum_f32", 11000000, 2750000, 8, 22000000), "group_per_segment");
    EXPECT_EQ(taken("welford_mean_variance_f32", 11000000, 2750000, 8, 22000000), "thread_per_segment")
        << "lanes join what they have, which is dear";
    // One segment of nine has elements, so slices are mostly empty.
    EXPECT_EQ(taken("sum_f32", 8000000, 16000000, 13, 144000000), "thread_per_segment");
    EXPECT_EQ(taken("sum_f32", 8000000, 16000000, 14, 144000000), "lean_stream") << "some are long";
    EXPECT_EQ(taken("sum_f32", 10000000, 20000000, 13, 180000000), "lean_stream") << "of more elements";
    EXPECT_EQ(taken("sum_f32", 10000000, 10000000, 60, 250000000), "lean_stream");
}

TEST(RuleOfThumb, LeavesVectorsOfNarrowElementsToGroups)
{
    EXPECT_EQ(taken("sum_i8", 1 << 24, 1 << 20, 16, 1 << 24), "group_per_segment");
    EXPECT_EQ(taken("sum_i8", 15 << 20, 1 << 20, 15, 15 << 20), "thread_per_segment");
    const Problem placed(own_operator("by_segment"), SegmentForm::offsets);
    EXPECT_EQ(Catalogue::standard().rule_of_thumb(placed, {1 << 24, 1 << 20, 16, 0, 1 << 24}).name,
              "thread_per_segment")
        << "which groups cannot serve";
}

TEST(RuleOfThumb, LetsGroupsTakeWhatIsNearlyEven)
{
    EXPECT_EQ(taken("sum_f32", 1 << 24, 1 << 17, 512, 3 << 23), "group_per_segment");
    EXPECT_EQ(taken("sum_f32", 1 << 24, 1 << 17, 1800, 4 << 24), "group_per_segment")
        << "long ones are many times the mean, and lanes wait little";
    EXPECT_EQ(taken("argmax_f32", 1 << 24, 1 << 17, 1800, 4 << 24), "warp_per_segment");
    EXPECT_EQ(taken("argmax_f32", 1 << 25, 1 << 18, 1800, 4 << 25), "lean_stream");
    EXPECT_EQ(taken("argmax_f32", 1 << 24, 1 << 17, 400, 3 << 23), "group_per_segment");
    EXPECT_EQ(taken("argmax_f32", 1 << 20, 1 << 13, 1900, 3 << 19), "warp_per_segment")
        << "all warps run at once";
}

TEST(RuleOfThumb, LetsTilesTakeSmallIrregularProblems)
{
    EXPECT_EQ(taken("sum_f32", 1 << 22, 1 << 18, 10000, 1 << 25), "gather_tiles");
    EXPECT_EQ(taken("sum_f32", (1 << 22) + 1, 1 << 18, 10000, 1 << 25), "lean_stream");
    EXPECT_EQ(taken("sum_f32", 1 << 20, 1 << 16, 4000, 1 << 24), "gather_tiles") << "not groups or a grid";
    EXPECT_EQ(taken("sum_f64", 1 << 20, 1 << 18, 10000, 1 << 24), "gather_tiles");
    EXPECT_EQ(taken("sum_f64", 1 << 21, 1 << 18, 10000, 1 << 24), "warp_stream") << "states of eight bytes";
    EXPECT_EQ(taken("sum_f32", 1 << 20, 1 << 13, 2000, 1 << 23), "warp_per_segment") << "one wave of warps";
    EXPECT_NE(taken("sum_f32", 1 << 20, 1 << 16, 65537, 1 << 24), "gather_tiles")
        << "its tiles are joined one after the other";
}

TEST(RuleOfThumb, LetsTilesMeetWhereSmallProblemsHaveFlagsOrKeys)
{
    const auto chosen = [](const std::string& op, SegmentForm form, std::int64_t elements) {
        const Problem problem(operator_of(op), form);
        return Catalogue::standard().rule_of_thumb(problem, {elements, elements / 8}).name;
    };
    for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
        const bool has_flags = form == SegmentForm::flags;
        for (const auto& [op, most] :
             std::map<std::string, std::int64_t>{{"sum_f32", has_flags ? 3670016 : 4325376},
                                                 {"max_f32", 3670016},
                                                 {"sum_f16", has_flags ? 6291456 : 4718592},
                                                 {"argmax_f32", has_flags ? 6291456 : 5242880},
                                                 {"sum_f64", 3244032},
                                                 {"max_f64", has_flags ? 2621440 : 2162688},
                                                 {"welford_mean_variance_f32", 6291456},
                                                 {"max_subarray_f32", has_flags ? 3145728 : 4980736},
                                                 {"wide_3", 2621440}}) {
            EXPECT_EQ(chosen(op, form, most), "run_tiles") << op;
            EXPECT_EQ(chosen(op, form, most + 1),
                      op == "welford_mean_variance_f32" ? "lean_stream" : "run_stream")
                << op;
            EXPECT_EQ(chosen(op, form, 0), "run_stream") << op << ", of a number of elements nobody knows";
        }
    }
}

TEST(RuleOfThumb, CountsAsFarAsMemoryGoes)
{
    constexpr std::int64_t kGiant = 3100000000;
    for (const std::string op : {"sum_i8", "sum_f32", "welford_mean_variance_f32"})
        EXPECT_FALSE(taken(op, 2 * kGiant, kGiant, kGiant, 33 * kGiant).empty());
}

TEST(RuleOfThumb, TakesAWarpOrABlockForEachOfManyEvenSegments)
{
    const auto& catalogue = Catalogue::standard();
    const auto chosen = [&](const std::string& op, std::int64_t mean, std::int64_t longest) {
        const Problem problem(standard_operator(op), SegmentForm::offsets);
        return catalogue.rule_of_thumb(problem, {mean << 16, 1 << 16, longest}).name;
    };
    EXPECT_EQ(chosen("sum_i32", 4096, 8000), "block_per_segment");
    EXPECT_EQ(chosen("sum_i32", 2047, 8000), "warp_per_segment");
    EXPECT_EQ(chosen("sum_i32", 256, 1024), "group_per_segment");
    EXPECT_EQ(chosen("sum_i32", 256, 1025), "warp_per_segment") << "one more than four times the mean";
    EXPECT_EQ(chosen("sum_i32", 256, 5120), "warp_per_segment");
    EXPECT_EQ(chosen("sum_i32", 256, 5121), "lean_stream") << "one more than twenty times the mean";
    EXPECT_EQ(chosen("sum_i32", 2046, 8185), "lean_stream") << "with many elements, than four times";
    EXPECT_EQ(chosen("sum_i32", 4096, 0), "warp_stream") << "nobody knows the longest";
    EXPECT_EQ(chosen("affine_u32", 4096, 8000), "warp_per_segment") << "shares of a block are read slower";
    EXPECT_EQ(chosen("trace_u64", 1024, 1024), "warp_per_segment");
    EXPECT_EQ(chosen("trace_u64", 4096, 8000), "warp_stream") << "joining lanes once a row is dear";
    EXPECT_EQ(chosen("sum_i32", 128, 128), "group_per_segment");
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
        const auto chosen = default_configuration(stage, plan_facts(Problem(operator_of(op), form), shape));
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

TEST(RuleOfThumb, OffsetsAreMadeOfFlagsAndKeysWhereThatPays)
{
    const auto chosen = [](const std::string& op, SegmentForm form, std::int64_t elements,
                           std::int64_t mean) {
        return Catalogue::standard()
            .rule_of_thumb(Problem(standard_operator(op), form), {elements, elements / mean, mean})
            .name;
    };
    const auto border = [&](const std::string& op, SegmentForm form, std::int64_t elements, std::int64_t mean,
                            const std::string& below = "run_stream") {
        EXPECT_EQ(chosen(op, form, elements, mean - 1), below) << op << " " << mean;
        EXPECT_EQ(chosen(op, form, elements, mean), "lean_stream") << op << " " << mean;
    };
    constexpr std::int64_t kMany = std::int64_t{1} << 27, kLess = std::int64_t{1} << 24;
    border("welford_mean_variance_f32", SegmentForm::flags, kMany, 4);
    border("welford_mean_variance_f32", SegmentForm::keys, kMany, 4);
    border("welford_mean_variance_f32", SegmentForm::keys, kLess, 8);
    border("welford_mean_variance_f64", SegmentForm::keys, kLess, 4);
    border("argmax_f32", SegmentForm::flags, kMany, 8);
    border("argmax_f32", SegmentForm::keys, kLess, 14);
    border("sum_i8", SegmentForm::flags, kMany, 6);
    border("sum_i8", SegmentForm::keys, kMany, 20);
    border("sum_f16", SegmentForm::flags, kMany, 8);
    border("sum_f16", SegmentForm::keys, kMany, 24);
    EXPECT_EQ(chosen("welford_mean_variance_f32", SegmentForm::flags, 1 << 22, 64), "run_tiles")
        << "one launch";
    border("welford_mean_variance_f32", SegmentForm::flags, 6000000, 16, "run_tiles");
    border("welford_mean_variance_f32", SegmentForm::keys, 4718593, 16, "run_tiles");
    EXPECT_EQ(chosen("welford_mean_variance_f32", SegmentForm::flags, 4718591, 64), "run_tiles")
        << "one launch, not three";
    EXPECT_EQ(chosen("welford_mean_variance_f64", SegmentForm::flags, 1 << 22, 64), "lean_stream");
    EXPECT_EQ(chosen("sum_f32", SegmentForm::flags, kMany, 64), "run_stream") << "one pass";
    EXPECT_EQ(chosen("sum_i8", SegmentForm::flags, 6291456, 64), "run_tiles");
    EXPECT_EQ(chosen("sum_i8", SegmentForm::flags, 6291457, 64), "run_stream");
}

/// On the host, such states fold along segments: loops over lanes would not become vector code, or copies of
/// combine would take a compiler minutes.
TEST(RuleOfThumb, HostsFoldMixedAndWideStatesAlongSegments)
{
    const auto chosen = [](const Operator& op, std::int64_t mean) {
        return Catalogue::native()
            .rule_of_thumb(Problem(op, SegmentForm::offsets), {mean << 16, 1 << 16, 4 * mean})
            .name;
    };
    EXPECT_EQ(chosen(standard_operator("is_sorted_i32"), 32), "vector_per_segment") << "has a bool";
    EXPECT_EQ(chosen(standard_operator("is_sorted_i32"), 4), "lane_scan") << "segments are short";
    EXPECT_EQ(chosen(standard_operator("welford_mean_variance_f32"), 32), "row_tree");
    EXPECT_EQ(chosen(standard_operator("histogram_16_i32"), 32), "vector_per_segment") << "has many fields";
    EXPECT_EQ(chosen(standard_operator("histogram_16_i32"), 4), "vector_per_segment");
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
