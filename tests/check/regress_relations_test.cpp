// Relations hold for the stages as they are, and each kind of planted bug breaks one.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "dsl/text/standard_operators.h"
#include "runtime/check/operators/derived_operators.h"
#include "runtime/check/relations.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/kernel_folder.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::regress_relations_test {
namespace {

using regress::Tiles;

std::vector<Array> make_arrays(const Operator& op, const Segments& segments, std::uint64_t seed)
{
    std::vector<Array> arrays;
    for (const auto& parameter : op.parameters)
        arrays.push_back(generate_values(parameter.type, segments.num_elements, seed++, ValueRange::uniform));
    return arrays;
}

/// The relations that a stage of a catalogue breaks.
std::set<std::string> broken(const Catalogue& catalogue, const std::string& stage, const Operator& op,
                             std::int64_t num_elements = 1000)
{
    const auto backend = make_backend("simt");
    const regress::Setting setting{
        op,         {true, op.laws.commutative, op.laws.idempotent}, catalogue, *backend, num_elements, 7,
        make_arrays};
    regress::Materials materials;
    std::set<std::string> names;
    for (const auto& relation : regress::relations())
        if (regress::attempt(relation, setting, catalogue.stage(stage), Tiles::smallest, materials).breach)
            names.insert(std::string(relation.name));
    return names;
}

class RegressRelations : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_compiler())
            GTEST_SKIP() << "there is no C++ compiler for simt";
    }
    ProgramFolder folder_;
};

/// Sizes at which loops over segments, tiles and parts have nothing to do, or one thing.
TEST_F(RegressRelations, HoldForFewElements)
{
    Draw draw;
    for (const auto* stage : {"warp_stream", "run_stream", "tree_shuffle"})
        for (const std::int64_t n : {1, 33})
            for (const auto* op : {"trace_i32", "keep_first_i32"}) {
                const auto what = std::string(stage) + " " + op + " " + std::to_string(n);
                if (!draw.takes(what))
                    continue;
                EXPECT_EQ(broken(Catalogue::standard(), stage, standard_operator(op), n),
                          std::set<std::string>())
                    << what;
            }
}

/// An operator whose results depend on where segments lie: some relations say nothing, the others hold.
TEST_F(RegressRelations, HoldWherePlacesAreRead)
{
    const auto op = parse_operator("placed", R"(
        operator placed(x: i32) -> (total: i64, length: i64) {
            state sum: i64 = 0
            lift i64(x) * i64(position + 1) + i64(segment)
            combine(a, b) a + b
            finish { total = sum; length = length }
            empty { total = -1; length = i64(segment) }
        })");
    EXPECT_TRUE(regress::lift_knows_segments(op));
    for (const auto* stage : {"block_per_segment", "tile_scan", "warp_stream"})
        EXPECT_EQ(broken(Catalogue::standard(), stage, op), std::set<std::string>()) << stage;
}

/// States of an operator that has an 'empty' part but no identity are folded of segments with elements alone.
TEST_F(RegressRelations, HoldWhereEmptyStandsForAnIdentity)
{
    const std::string text =
        "operator largest(x: f32) -> f32 { state m: f32 lift x combine(a, b) max(a, b) empty nan }";
    const auto op = parse_operator("largest", text);
    ASSERT_FALSE(op.has_identity());
    ASSERT_TRUE(op.allows_empty());
    for (const auto* stage : {"block_per_segment", "tile_scan", "thread_per_segment"})
        EXPECT_EQ(broken(Catalogue::standard(), stage, op), std::set<std::string>()) << stage;
    std::ofstream(folder_.file("largest.seg")) << text;
    const auto done = folder_.run({"regress", "largest.seg,sum_i32", "--relations", "--backend", "simt",
                                   "--stage", "thread_per_segment", "--elements", "300"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("all hold"), std::string::npos) << done.output;
}

TEST_F(RegressRelations, StatesAreJoinedByTheSameCombine)
{
    const auto op = standard_operator("mean_variance_f32");
    const auto states = state_operator(op);
    const auto joining = regress::joining_operator(op);
    ASSERT_EQ(states.results.size(), op.state.size());
    EXPECT_EQ(states.results[1].name, "mean");
    EXPECT_FALSE(states.finish);
    ASSERT_EQ(joining.parameters.size(), op.state.size());
    EXPECT_EQ(joining.parameters[0].type, op.state[0].type);
    EXPECT_FALSE(regress::lift_knows_segments(op));
}

/// A change of a kernel's file, and a relation that must notice it.
struct Bug {
    std::string name;
    std::string file, from, to;
    std::string stage, op;
    std::string relation;
};

const std::vector<Bug> kBugs = {
    {"SwappedOperands", "parts/reduce/warp_reduce.cuh", "combine(state, shuffle_down(state, delta))",
     "combine(shuffle_down(state, delta), state)", "warp_per_segment", "affine_u32", "splitting"},
    {"SwappedOperandsInARung", "parts/reduce/fold_block_pairs.cuh", "combine(", "combine_swapped(",
     "pairs_sequential", "affine_u32", "fold_of_segments"},
    {"LostCarry", "stages/tile_scan.cu", "head = combine(before.total, head);", "", "tile_scan", "sum_i32",
     "splitting"},
    {"LastBlockOfTheWholeLost", "stages/grid_reduce.cu", "if (part < num_blocks)",
     "if (part < num_blocks - 1)", "grid_reduce", "sum_i32", "one_segment"},
    {"WrongEmptyResult", "stages/tile_scan.cu", "store(results, segment, 0, identity());", ";", "tile_scan",
     "trace_i32", "empty_segments"},
    {"EmptyResultOfOnes", "stages/thread_per_segment.cu", "store(results, segment, length, total);",
     "store(results, segment, length, length == 0 ? lift_first(inputs) : total);", "thread_per_segment",
     "sum_i32", "empty_segments"},
    {"ElementsBeyondTheSegment", "stages/thread_per_segment.cu", "position < length; ++position)",
     "position <= length; ++position)", "thread_per_segment", "sum_i32", "neighbours"},
    {"BarrierDroppedBetweenSegments", "stages/block_per_segment.cu",
     "__syncthreads();  // the warps' totals have been read, so the next segment may write them", ";",
     "block_per_segment", "sum_i32", "agreement"},
    {"TicketNotReset", "stages/warp_stream.cu", "atomicInc(ticket, gridDim.x - 1)",
     "atomicInc(ticket, gridDim.x)", "warp_stream", "sum_i32", "repetition"},
    {"SharesOfGroupsOverlap", "stages/group_tables.cu", "begin + share, segments.num_items",
     "begin + share + 1, segments.num_items", "group_tables", "sum_i32", "agreement"},
};

[[maybe_unused]] void PrintTo(const Bug& bug, std::ostream* out) { *out << bug.name; }

/// Functions that some bugs need, behind the operator's own.
constexpr const char* kSwapped =
    "__device__ __forceinline__ State combine_swapped(const State& earlier, const State& later)\n"
    "{\n    return combine(later, earlier);\n}\n\n";
constexpr const char* kLiftFirst =
    "__device__ __forceinline__ State lift_first(const Inputs& inputs)\n"
    "{\n    return load_item(inputs, 0, 0, 0);\n}\n\n";

class PlantedRegressions : public RegressRelations, public testing::WithParamInterface<Bug> {};

TEST_P(PlantedRegressions, BreakARelation)
{
    const auto& bug = GetParam();
    const auto kernels = copy_kernels(folder_, "kernels");
    plant(kernels, bug.file, bug.from, bug.to);
    for (const auto& [function, text] :
         {std::pair("combine_swapped(", kSwapped), {"lift_first(", kLiftFirst}})
        if (bug.to.find(function) != std::string::npos)
            plant(kernels, bug.file, bug.file.starts_with("parts") ? "__device__" : "extern \"C\"",
                  text + std::string(bug.file.starts_with("parts") ? "__device__" : "extern \"C\""));
    if (HasFatalFailure())
        return;
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto op = standard_operator(bug.op);
    const auto names = broken(Catalogue::from_directory(kernels), bug.stage, op);
    EXPECT_TRUE(names.contains(bug.relation)) << testing::PrintToString(names);
    EXPECT_EQ(broken(Catalogue::standard(), bug.stage, op), std::set<std::string>()) << "without the bug";
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedRegressions, testing::ValuesIn(kBugs),
                         [](const auto& info) { return info.param.name; });

/// The words of a command without quotes.
std::vector<std::string> words_of(const std::string& command)
{
    std::istringstream stream(command);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

/// What the program prints for a broken relation leads back to the same segment.
TEST_F(RegressRelations, TheCommandThatIsPrintedShowsItAgain)
{
    const auto kernels = copy_kernels(folder_, "edited");
    plant(kernels, "stages/tile_scan.cu", "head = combine(before.total, head);", "");
    const auto first =
        folder_.run({"regress", "trace_i32,sum", "--relations", "--type", "i32", "--stage", "tile_scan",
                     "--kernels", "edited", "--backend", "simt", "--repeat", "2", "--elements", "1500"});
    ASSERT_EQ(first.exit_code, 1) << first.errors;
    std::smatch found;
    std::set<std::string> commands;
    const std::regex pattern("([^\n]*segment [0-9]+ [^\n]*)\n([^\n]*\n)*?    again: segfold ([^\n]*)\n");
    ASSERT_TRUE(std::regex_search(first.output, found, pattern)) << first.output;
    const auto again = folder_.run(words_of(found[3]));
    EXPECT_EQ(again.exit_code, 1) << again.output << again.errors;
    EXPECT_NE(again.output.find(found[1]), std::string::npos) << found[1] << "\n" << again.output;
}

/// What ./test and continuous integration ask of every build: all stages, an exact operator that does not
/// commute and one that rounds.
TEST_F(RegressRelations, WhatIsNotTriedIsSaid)
{
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "regress");
        words.insert(words.end(), {"--relations", "--backend", "simt", "--elements", "64"});
        return folder_.run(words);
    };
    auto done = run({"--op", "a - b", "--type", "i32", "--stage", "thread_per_segment"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find(
                  "\nnot tried with --op 'a - b' --type i32: fold_of_segments, splitting, slices, devices "
                  "and ranks: combine is not associative, and what is folded apart has another result; "
                  "segfold check shows values by which it is refuted\n"),
              std::string::npos)
        << done.output;
    EXPECT_NE(done.output.find("\n6 relations tried with the smallest tiles alone, all hold\n"),
              std::string::npos)
        << done.output;
    done = run({"softmax_f32", "--relation", "repetition", "--stage", "thread_per_segment"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find(
                  "\ntried     of softmax_f32: the fold, without map; segfold check tries all of it\n"),
              std::string::npos)
        << done.output;
    std::ofstream(folder_.file("rows.seg"))
        << "operator rows(x: row f32) -> f32 {\n  state sum: f32 = 0\n  lift x\n  combine(a, b) a + b\n}\n";
    done = run({"rows.seg", "--stage", "row_groups"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.errors,
              "segfold: row_groups: serves operator rows as a whole, and relations try the fold of one "
              "feature, as a column of numbers; segfold check tries all of it\n");
}

TEST_F(RegressRelations, HoldForEveryStage)
{
    const auto op = standard_operator("trace_i32");
    std::size_t num_served = 0;
    std::vector<std::string> drawn;
    Draw draw;
    for (const auto& stage : Catalogue::standard().stages())
        if (!Catalogue::standard().unmet(stage, Problem(op, stage.forms.back()))) {
            ++num_served;
            if (draw.takes(stage.name))
                drawn.push_back(stage.name);
        }
    if (drawn.size() == num_served)
        drawn = {"all"};
    for (const auto& stage : drawn) {
        const auto result = folder_.run({"regress", "trace_i32", "--relations", "--backend", "simt",
                                         "--elements", "1200", "--stage", stage});
        EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
        EXPECT_NE(result.output.find("all hold"), std::string::npos) << result.output;
    }
}

/// An operator whose results are near to each other where the order of combination differs. Rungs are left to
/// trace_i32, which sees each order.
TEST_F(RegressRelations, HoldForAnOperatorThatRounds)
{
    const auto& catalogue = Catalogue::standard();
    const auto op = standard_operator("mean_variance_f32");
    int num_served = 0;
    Draw draw;
    for (const auto& stage : catalogue.stages()) {
        if (stage.is_rung || catalogue.unmet(stage, Problem(op, stage.forms.back())))
            continue;
        ++num_served;
        if (!draw.takes(stage.name))
            continue;
        EXPECT_EQ(broken(catalogue, stage.name, op), std::set<std::string>()) << stage.name;
    }
    EXPECT_GE(num_served, 10);
}

}  // namespace
}  // namespace segfold::test::regress_relations_test
