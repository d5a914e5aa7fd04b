// Numbers of a stage: constants of the text, or parameters that a launch says.
#include <gtest/gtest.h>

#include <set>

#include "codegen/emit.h"
#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/stage_cases.h"

namespace segfold::emit_numbers_test {
namespace {

constexpr const char* kStageWithNumbers =
    "//% stage x\n//% title X\n//% layout offsets\n"
    "//% tune block_threads = 64, 32, 128\n//% tune rows = 1, 2\n"
    "//% let row_bytes = rows * state_bytes\n//% where row_bytes <= block_shared_bytes\n"
    "//% launch fold grid = num_elements block = block_threads\n"
    "extern \"C\" __global__ void __launch_bounds__(kMostBlockThreads) fold(Inputs inputs,\n"
    "    //% number block_threads\n    //% number row_bytes\n    Results results)\n"
    "{\n    int x = block_threads + row_bytes + kRows;\n}\n";

TEST(EmitNumbers, NumbersAreConstantsOfTheText)
{
    const auto stage = read_stage("stages/x.cu", kStageWithNumbers);
    const Problem problem(standard_operator("affine_u32"), SegmentForm::offsets);
    const auto emitted = emit(problem, stage, {{"block_threads", 32}, {"rows", 2}});
    EXPECT_EQ(emitted.numbers.size(), 0u);
    EXPECT_EQ(emitted.launches[0].parameters, (std::vector<std::string>{"inputs", "results"}));
    for (const char* text :
         {"constexpr int block_threads = 32;\n", "constexpr int row_bytes = 16;\n",
          "constexpr int kMostBlockThreads = 32;\n", "// block_threads = 32\n// rows = 2\n",
          "fold(Inputs inputs,\n    Results results)"})
        EXPECT_NE(emitted.source.find(text), std::string::npos) << text << " is not in\n" << emitted.source;
    EXPECT_EQ(emitted.source.find("kBlockThreads"), std::string::npos) << emitted.source;
}

TEST(EmitNumbers, NumbersThatTheLaunchSaysAreNotInTheText)
{
    const auto stage = read_stage("stages/x.cu", kStageWithNumbers);
    const Problem problem(standard_operator("affine_u32"), SegmentForm::offsets);
    const auto emit_with = [&](int threads, int rows) {
        return emit(problem, stage, {{"block_threads", threads}, {"rows", rows}}, Catalogue::standard(),
                    Numbers::at_launch);
    };
    const auto emitted = emit_with(32, 2);
    EXPECT_EQ(emitted.numbers, (decltype(emitted.numbers){{"block_threads", 32}, {"row_bytes", 16}}));
    EXPECT_EQ(emitted.launches[0].parameters,
              (std::vector<std::string>{"inputs", "block_threads", "row_bytes", "results"}));
    for (const char* text : {"    int block_threads,\n    int row_bytes,\n    Results results)",
                             "constexpr int kMostBlockThreads = 128;\n", "// rows = 2\n"})
        EXPECT_NE(emitted.source.find(text), std::string::npos) << text << " is not in\n" << emitted.source;
    EXPECT_EQ(emitted.source.find("// block_threads"), std::string::npos) << emitted.source;
    EXPECT_EQ(emit_with(128, 2).source, emitted.source) << "one text for both";
    EXPECT_NE(emit_with(32, 1).source, emitted.source);
}

TEST(EmitNumbers, NumbersAreTunablesOrSizesThatNeedNoWorkload)
{
    const auto stage =
        read_stage("stages/x.cu",
                   "//% stage x\n//% title X\n//% layout offsets\n//% let blocks = num_items\n"
                   "//% launch fold grid = blocks block = 32\n"
                   "extern \"C\" __global__ void fold(\n    //% number blocks\n    Inputs inputs)\n{\n}\n");
    try {
        (void)emit(Problem(standard_operator("sum_i32"), SegmentForm::offsets), stage, {});
        ADD_FAILURE() << "a size that depends on the workload was taken for a number";
    } catch (const SpecError& error) {
        EXPECT_STREQ(error.what(),
                     "stages/x.cu: number 'blocks' is neither a tunable nor a size above the "
                     "last needs, suits, where or fits");
    }
}

/// A block's arrays have room for what the launch may say beside the other tunables, and for no more: where
/// it is 16 bytes a state and 16 items a thread, 288 threads are no configuration.
TEST(EmitNumbers, RoomIsOfTheConfigurationsThatThereAre)
{
    const auto& stage = Catalogue::standard().stage("gather_tiles");
    const Problem problem(
        parse_operator("test",
                       "operator four(x: u32) -> (p: u32, q: u32, r: u32, s: u32) {\n"
                       "  state { p: u32 = 0; q: u32 = 0; r: u32 = 0; s: u32 = 0 }\n"
                       "  lift { p = x; q = x; r = x; s = x }\n"
                       "  combine(a, b) { p = a.p + b.p; q = a.q + b.q; r = a.r + b.r; s = a.s + b.s }\n}"),
        SegmentForm::offsets);
    const auto text_of = [&](int threads, int items) {
        const auto configuration = configure(stage, {{"block_threads", threads}, {"items_per_thread", items}},
                                             plan_facts(problem, {}));
        return emit(problem, stage, configuration, Catalogue::standard(), Numbers::at_launch).source;
    };
    const auto text = text_of(96, 16);
    EXPECT_NE(text.find("constexpr int kMostBlockThreads = 160;\n"), std::string::npos) << text;
    EXPECT_NE(text_of(96, 4).find("constexpr int kMostBlockThreads = 288;\n"), std::string::npos);
}

/// What tuning gains from: thousands of configurations of warp_stream are as many texts as it has
/// items_per_thread, with room for few ends and for all.
/// Of many configurations some are emitted, by lot, in which each number of items appears many times.
TEST(EmitNumbers, ConfigurationsShareTexts)
{
    for (const auto& [name, most] :
         {std::pair{"warp_stream", 6u}, std::pair{"tile_scan", 1u}, std::pair{"warp_per_segment", 4u},
          std::pair{"group_per_segment", 12u}, std::pair{"thread_per_segment", 4u}}) {
        const auto& stage = Catalogue::standard().stage(name);
        const Problem problem(standard_operator("sum_f32"), SegmentForm::offsets);
        std::set<std::string> texts;
        for (const auto& configuration : test::some_configurations(stage, problem, 300))
            texts.insert(
                emit(problem, stage, configuration, Catalogue::standard(), Numbers::at_launch).source);
        EXPECT_EQ(texts.size(), most) << name;
    }
}

}  // namespace
}  // namespace segfold::emit_numbers_test
