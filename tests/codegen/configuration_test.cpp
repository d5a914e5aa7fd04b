// Configurations: defaults, the space a stage allows, and what may not be chosen.
#include "codegen/configuration.h"

#include <gtest/gtest.h>

#include "dsl/error.h"

namespace segfold::configuration_test {
namespace {

Stage stage_with(const std::string& directives)
{
    return read_stage(
        "stages/x.cu",
        "//% stage x\n//% title T\n//% layout whole\n//% launch f grid = 1 block = 1\n" + directives);
}

const Stage kStage = stage_with(
    "//% tune block_threads = 256, 64, 128\n"
    "//% tune items_per_thread = 4, 8\n"
    "//% where block_threads * items_per_thread <= 1024\n");

std::string failure(const Stage& stage, const std::map<std::string, int>& chosen)
{
    try {
        return print(configure(stage, chosen));
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(Configuration, DefaultIsTheFirstValueOfEach)
{
    EXPECT_EQ(print(default_configuration(kStage)), "block_threads=256 items_per_thread=4");
    EXPECT_EQ(print(configure(kStage, {})), "block_threads=256 items_per_thread=4");
    EXPECT_TRUE(default_configuration(stage_with("")).empty());
    EXPECT_EQ(print(Configuration{}), "");
}

TEST(Configuration, ChosenValuesReplaceTheDefault)
{
    EXPECT_EQ(failure(kStage, {{"items_per_thread", 8}, {"block_threads", 128}}),
              "block_threads=128 items_per_thread=8");
}

TEST(Configuration, AllAreListedInTheOrderOfTheValues)
{
    std::string all;
    for (const auto& configuration : configurations(kStage))
        all += print(configuration) + "\n";
    EXPECT_EQ(all,
              "block_threads=256 items_per_thread=4\n"
              "block_threads=64 items_per_thread=4\n"
              "block_threads=64 items_per_thread=8\n"
              "block_threads=128 items_per_thread=4\n"
              "block_threads=128 items_per_thread=8\n");
    EXPECT_EQ(configurations(stage_with("")).size(), 1u) << "no tunables: one configuration, the empty one";
}

TEST(Configuration, RefusesWhatTheStageDoesNotList)
{
    EXPECT_EQ(failure(kStage, {{"block_thread", 64}}),
              "stage x has no tunable 'block_thread'; it has block_threads, "
              "items_per_thread; did you mean 'block_threads'?");
    EXPECT_EQ(failure(kStage, {{"elephants", 1}}),
              "stage x has no tunable 'elephants'; it has block_threads, items_per_thread");
    EXPECT_EQ(failure(stage_with(""), {{"block_threads", 1}}),
              "stage x has no tunable 'block_threads'; it has none");
    EXPECT_EQ(failure(kStage, {{"block_threads", 96}}),
              "stage x: block_threads cannot be 96; its values are 256, 64, 128");
}

TEST(Configuration, RefusesWhatAConditionExcludes)
{
    EXPECT_EQ(failure(kStage, {{"items_per_thread", 8}}),
              "stage x: block_threads=256 items_per_thread=8 is excluded; it must hold that "
              "block_threads * items_per_thread <= 1024");
}

TEST(Configuration, ConditionsOverUnknownNamesAreTheStagesFault)
{
    const auto stage = stage_with("//% tune block_threads = 1\n//% where block_threds == 1\n");
    try {
        configurations(stage);
        FAIL() << "accepted";
    } catch (const SpecError& error) {
        EXPECT_STREQ(error.what(),
                     "stages/x.cu:6: in 'block_threds == 1': unknown name 'block_threds'; "
                     "did you mean 'block_threads'?");
    }
}

const Stage kPreferring = stage_with(
    "//% tune block_threads = 96, 64, 32, 128\n"
    "//% tune items_per_thread = 32, 16, 8\n"
    "//% let lane_bytes = items_per_thread * element_bytes\n"
    "//% let block_bytes = block_threads * lane_bytes\n"
    "//% where block_bytes <= 4096\n"
    "//% prefer items_per_thread = mean_length < 6 ? 16 : 8\n"
    "//% prefer block_threads = 4096 / lane_bytes\n"
    "//% let behind = nothing_knows_this\n");

FormulaNames facts(std::int64_t element_bytes, std::int64_t mean_length = 64)
{
    return {{"element_bytes", element_bytes}, {"mean_length", mean_length}};
}

TEST(Preference, IsHeededWhereThereAreFacts)
{
    EXPECT_EQ(print(default_configuration(kPreferring, facts(4))), "block_threads=128 items_per_thread=8");
    EXPECT_EQ(print(default_configuration(kPreferring, facts(4, 5))), "block_threads=64 items_per_thread=16")
        << "later lines see what earlier ones preferred";
    const auto plain = stage_with("//% tune t = 2, 1, 3\n//% prefer t = 3\n");
    EXPECT_EQ(print(default_configuration(plain)), "t=2") << "without facts, the first value";
    EXPECT_EQ(print(default_configuration(plain, facts(4))), "t=3");
}

TEST(Preference, TakesTheGreatestValueThatIsNotAbove)
{
    const auto preferred = [](const std::string& formula) {
        return print(default_configuration(
            stage_with("//% tune t = 6, 2, 9, 4\n//% prefer t = " + formula + "\n"), facts(1)));
    };
    EXPECT_EQ(preferred("5"), "t=4");
    EXPECT_EQ(preferred("6"), "t=6");
    EXPECT_EQ(preferred("100"), "t=9");
    EXPECT_EQ(preferred("1"), "t=2") << "the least, where all are above";
    EXPECT_EQ(preferred("-7"), "t=2");
}

TEST(Preference, YieldsToWhatIsChosen)
{
    EXPECT_EQ(print(configure(kPreferring, {{"items_per_thread", 32}}, facts(4))),
              "block_threads=32 items_per_thread=32")
        << "what is chosen is seen by all lines";
    EXPECT_EQ(print(configure(kPreferring, {{"block_threads", 32}}, facts(8))),
              "block_threads=32 items_per_thread=8");
}

TEST(Preference, MayNotBreakACondition)
{
    try {
        (void)default_configuration(kPreferring, facts(100));
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "stage x: block_threads=32 items_per_thread=8 is excluded; it must hold that "
                     "block_bytes <= 4096");
    }
}

TEST(Preference, OfUnknownNamesIsTheStagesFault)
{
    const auto stage = stage_with("//% tune t = 1, 2\n//% prefer t = mean_lenght\n");
    EXPECT_EQ(print(default_configuration(stage)), "t=1") << "nobody asks";
    try {
        (void)default_configuration(stage, facts(4));
        FAIL() << "accepted";
    } catch (const SpecError& error) {
        EXPECT_STREQ(error.what(),
                     "stages/x.cu:6: in 'mean_lenght': unknown name 'mean_lenght'; did you mean "
                     "'mean_length'?");
    }
}

TEST(Sizes, AreKnownToConditionsBelowThem)
{
    std::string all;
    for (const auto& configuration : configurations(kPreferring, facts(4)))
        all += print(configuration) + "\n";
    EXPECT_EQ(all,
              "block_threads=96 items_per_thread=8\n"
              "block_threads=64 items_per_thread=16\n"
              "block_threads=64 items_per_thread=8\n"
              "block_threads=32 items_per_thread=32\n"
              "block_threads=32 items_per_thread=16\n"
              "block_threads=32 items_per_thread=8\n"
              "block_threads=128 items_per_thread=8\n");
    EXPECT_EQ(kPreferring.sizes.size(), 2u)
        << "those behind the last condition or preference are for launches";
}

}  // namespace
}  // namespace segfold::configuration_test
