// Stage files as data, and a message for every directive that can be malformed.
#include "codegen/stage.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/common/message_of.h"

namespace segfold::stage_test {
namespace {

constexpr const char* kHead =
    "//% stage x\n//% title One does it\n//% layout offsets\n//% launch fold grid = 1 block = 2\n";

/// What reading a stage with one more directive, in line 5, says.
std::string failure_of(const std::string& directive)
{
    return test::message_of<SpecError>(
        [&] { read_stage("stages/x.cu", kHead + ("//% " + directive) + "\n"); });
}

/// What reading the directive as plumbing, in line 9, says.
std::string plumbing_failure(const std::string& word, const std::string& argument)
{
    return test::message_of<SpecError>([&] { read_plumbing("stages/x.cu", {{word, argument, 9}}); });
}

TEST(Stage, ReadsItsFrontMatter)
{
    const auto stage = read_stage("stages/tile.cu", R"(//% stage   tile
//% title   Tiles of equal size
//% after   simple
//% source  Blelloch 1990, section 2
//% layout  whole, uniform, offsets, ranges
//% needs   associative, state_bytes <= 64
//% needs   commutative
//% tune    block_threads = 256, 64
//% tune    blocks = -1,2
//% where   block_threads % 32 == 0
//% launch  fold  grid = 1  block = block_threads
body
)");
    EXPECT_EQ(stage.file, "stages/tile.cu");
    EXPECT_EQ(stage.name, "tile");
    EXPECT_EQ(stage.title, "Tiles of equal size");
    EXPECT_EQ(stage.after, "simple");
    EXPECT_EQ(stage.source, "Blelloch 1990, section 2");
    EXPECT_EQ(stage.forms, (std::vector{SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                                        SegmentForm::ranges}));
    ASSERT_EQ(stage.needs.size(), 3u);
    EXPECT_EQ(stage.needs[1].text(), "state_bytes <= 64");
    EXPECT_EQ(stage.needs[2].text(), "commutative");
    ASSERT_EQ(stage.tunables.size(), 2u);
    EXPECT_EQ(stage.tunables[0].name, "block_threads");
    EXPECT_EQ(stage.tunables[0].values, (std::vector{256, 64}));
    EXPECT_EQ(stage.tunables[1].values, (std::vector{-1, 2}));
    ASSERT_EQ(stage.where.size(), 1u);
    EXPECT_EQ(stage.where[0].text(), "block_threads % 32 == 0");
    EXPECT_NE(stage.text.find("//% stage"), std::string::npos) << "the text keeps its directives";
}

TEST(Stage, KeepsConditionsTheSizesTheySeeAndTheTunablesTheyWaitFor)
{
    const auto stage = read_stage("stages/x.cu", kHead + std::string(R"(//% tune b = 1, 2
//% tune c = 3, 4
//% let first = 2 * num_items
//% fits c < first
//% let second = first + b
//% where second < 9
//% where first < 9
//% let third = 4 * b
)"));
    ASSERT_EQ(stage.fits.size(), 1u);
    EXPECT_EQ(stage.fits[0].text(), "c < first");
    ASSERT_EQ(stage.sizes.size(), 2u);
    EXPECT_EQ(stage.sizes[0].first.text(), "first");
    EXPECT_EQ(stage.sizes[1].first.text(), "second");
    EXPECT_EQ(stage.sizes_after, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(stage.fits_after, (std::vector<std::size_t>{2}));
    EXPECT_EQ(stage.where_after, (std::vector<std::size_t>{1, 0})) << "through the sizes that they name";
}

TEST(Stage, KeepsTheSizesThatNeedsSee)
{
    const auto stage = read_stage("stages/x.cu", kHead + std::string(R"(//% let first = 2 * state_bytes
//% needs first <= 64
//% let second = 3 * num_items
)"));
    ASSERT_EQ(stage.needs_sizes.size(), 1u);
    EXPECT_EQ(stage.needs_sizes[0].first.text(), "first");
    EXPECT_EQ(stage.sizes.size(), 1u) << "what a launch is not asked for";
}

TEST(Stage, KeepsItsRankAndTheSizesAboveIt)
{
    const auto stage = read_stage("stages/x.cu", kHead + std::string(R"(//% let first = 2 * num_segments
//% suits first > 4 ? 90 : -10
//% let second = 3 * num_items
)"));
    ASSERT_TRUE(stage.suits);
    EXPECT_EQ(stage.suits->text(), "first > 4 ? 90 : -10");
    ASSERT_EQ(stage.suits_sizes.size(), 1u);
    EXPECT_EQ(stage.suits_sizes[0].first.text(), "first");
    EXPECT_EQ(stage.sizes.size(), 1u) << "what a launch is not asked for";
    EXPECT_EQ(rank(stage, {{"num_segments", 2}}), -10);
    EXPECT_EQ(rank(stage, {{"num_segments", 3}}), 90);
    EXPECT_EQ(rank(read_stage("stages/x.cu", kHead), {}), 0);
}

TEST(Stage, MayLackWhatIsOptional)
{
    const auto stage = read_stage("stages/x.cu", kHead);
    EXPECT_EQ(stage.after, "");
    EXPECT_EQ(stage.source, "");
    EXPECT_TRUE(stage.needs.empty() && stage.tunables.empty() && stage.where.empty());
    EXPECT_TRUE(stage.fits.empty() && stage.sizes.empty());
}

TEST(Stage, NeedsFourDirectives)
{
    const std::string message =
        "stages/x.cu: a stage file needs the directives stage, title, layout and launch";
    const std::string head = kHead;
    for (const std::string word : {"stage", "title", "layout", "launch"}) {
        const auto begin = head.find("//% " + word);
        const auto without = head.substr(0, begin) + head.substr(head.find('\n', begin) + 1);
        EXPECT_EQ(test::message_of<SpecError>([&] { read_stage("stages/x.cu", without); }), message) << word;
    }
    EXPECT_EQ(test::message_of<SpecError>([&] { read_stage("stages/x.cu", ""); }), message);
}

TEST(Stage, MalformedDirectivesAreNamed)
{
    EXPECT_EQ(failure_of("lunch fold"), "stages/x.cu:5: unknown directive 'lunch'; did you mean 'launch'?");
    EXPECT_EQ(failure_of(""), "stages/x.cu:5: unknown directive ''");
    EXPECT_EQ(failure_of("stage y"), "stages/x.cu:5: 'stage' is said twice");
    EXPECT_EQ(failure_of("title Another"), "stages/x.cu:5: 'title' is said twice");
    EXPECT_EQ(failure_of("layout rows"),
              "stages/x.cu:5: unknown layout 'rows'; stages take whole, uniform, offsets, ranges, flags, "
              "keys and groups");
    EXPECT_EQ(failure_of("layout"),
              "stages/x.cu:5: unknown layout ''; stages take whole, uniform, offsets, ranges, flags, keys "
              "and groups");
    EXPECT_EQ(failure_of("tune block_threads"),
              "stages/x.cu:5: expected 'NAME = ...', found 'block_threads'");
    EXPECT_EQ(failure_of("tune block_threads = 64, many"),
              "stages/x.cu:5: 'many' is not a value for block_threads; values are integers");
    EXPECT_EQ(failure_of("tune block_threads = 64,"),
              "stages/x.cu:5: '' is not a value for block_threads; values are integers");
    EXPECT_EQ(failure_of("tune block_threads = 99999999999"),
              "stages/x.cu:5: '99999999999' is not a value for block_threads; values are integers");
    EXPECT_EQ(failure_of("tune block_threads = 64, 32, 64"),
              "stages/x.cu:5: 64 stands twice among the values of block_threads");
    EXPECT_EQ(failure_of("tune b = 1\n//% tune b = 2"), "stages/x.cu:6: tunable 'b' is declared twice");
    EXPECT_EQ(failure_of("needs state_bytes <="),
              R"(stages/x.cu:5: expected an expression, found the end of the text
    state_bytes <=
                  ^)");
    EXPECT_EQ(failure_of("where").substr(0, 23), "stages/x.cu:5: expected");
    EXPECT_EQ(failure_of("suits").substr(0, 23), "stages/x.cu:5: expected");
    EXPECT_EQ(failure_of("suits 1\n//% suits 2"), "stages/x.cu:6: 'suits' is said twice");
    EXPECT_EQ(failure_of("fits").substr(0, 23), "stages/x.cu:5: expected");
    EXPECT_EQ(failure_of("prefer b = 1").substr(0, 42), "stages/x.cu:5: unknown directive 'prefer'");
    EXPECT_EQ(failure_of("tune block_threads = 64, 32, 64"),
              "stages/x.cu:5: 64 stands twice among the values of block_threads");
    EXPECT_EQ(failure_of("if commutative\n//% elif offsets\n//% else\n//% end"), "nothing was thrown")
        << "weaving balances these";
}

TEST(Plumbing, ReadsSizesScratchAndLaunchesInOrder)
{
    const auto plumbing = read_plumbing("stages/x.cu", {{"title", "ignored", 1},
                                                        {"let", "num_tiles = ceil_div(num_items, 256)", 2},
                                                        {"scratch", "totals : State[num_tiles + 1]", 3},
                                                        {"scratch", "ticket:unsigned[1] zero", 4},
                                                        {"launch", "fold  grid = num_tiles  block = 256", 5},
                                                        {"launch", "fix grid = 1 block = max(32, 64)", 6}});
    ASSERT_EQ(plumbing.sizes.size(), 1u);
    EXPECT_EQ(plumbing.sizes[0].first.text(), "num_tiles");
    EXPECT_EQ(plumbing.sizes[0].second.value({{"num_items", 257}}), 2);
    ASSERT_EQ(plumbing.scratch.size(), 2u);
    EXPECT_EQ(plumbing.scratch[0].name, "totals");
    EXPECT_EQ(plumbing.scratch[0].element, "State");
    EXPECT_EQ(plumbing.scratch[0].count.text(), "num_tiles + 1");
    EXPECT_FALSE(plumbing.scratch[0].zero);
    EXPECT_EQ(plumbing.scratch[1].name, "ticket");
    EXPECT_EQ(plumbing.scratch[1].element, "unsigned");
    EXPECT_TRUE(plumbing.scratch[1].zero);
    ASSERT_EQ(plumbing.launches.size(), 2u);
    EXPECT_EQ(plumbing.launches[0].kernel, "fold");
    EXPECT_EQ(plumbing.launches[0].grid.text(), "num_tiles");
    EXPECT_EQ(plumbing.launches[1].block.value({}), 64);
}

TEST(Plumbing, ALaunchMayAskForSharedMemory)
{
    const auto plumbing =
        read_plumbing("stages/x.cu", {{"launch", "fold grid = 7 block = 64 shared = block_threads * 8", 1},
                                      {"launch", "join grid = 1 block = 32", 2}});
    ASSERT_EQ(plumbing.launches.size(), 2u);
    EXPECT_EQ(plumbing.launches[0].block.value({}), 64);
    ASSERT_TRUE(plumbing.launches[0].shared);
    EXPECT_EQ(plumbing.launches[0].shared->value({{"block_threads", 64}}), 512);
    EXPECT_FALSE(plumbing.launches[1].shared);
}

TEST(Plumbing, MalformedDirectivesAreNamed)
{
    EXPECT_EQ(plumbing_failure("let", "num_tiles"),
              "stages/x.cu:9: expected 'NAME = ...', found 'num_tiles'");
    for (const std::string argument :
         {"totals State[1]", "totals : State", "totals : State[1", "[1] : State", ""})
        EXPECT_EQ(plumbing_failure("scratch", argument),
                  "stages/x.cu:9: expected 'NAME : ELEMENT[COUNT]', found '" + argument + "'");
    EXPECT_EQ(plumbing_failure("scratch", "totals : float[1]"),
              "stages/x.cu:9: unknown element 'float'; scratch is made of State, Columns, Index, Key, "
              "unsigned, u16, "
              "u64 or bool");
    EXPECT_EQ(plumbing_failure("scratch", "totals : State[1] clear"),
              "stages/x.cu:9: expected 'zero' or nothing behind the count, found 'clear'");
    EXPECT_EQ(plumbing_failure("scratch", "totals : State[]").substr(0, 23), "stages/x.cu:9: expected");
    for (const std::string argument : {"fold", "fold grid = 1", "fold block = 1", "fold block = 1 grid = 2",
                                       "fold shared = 8 grid = 1 block = 1"})
        EXPECT_EQ(plumbing_failure("launch", argument),
                  "stages/x.cu:9: expected 'KERNEL grid = ... block = ... [shared = ...]', found '" +
                      argument + "'");
    EXPECT_EQ(plumbing_failure("launch", "fold grid = block = 1").substr(0, 23), "stages/x.cu:9: expected");
}

}  // namespace
}  // namespace segfold::stage_test
