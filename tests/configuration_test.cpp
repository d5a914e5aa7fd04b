// Configurations: defaults, the space a stage allows, and what may not be chosen.
#include "codegen/configuration.h"

#include <gtest/gtest.h>

#include "dsl/error.h"

namespace segfold {
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

}  // namespace
}  // namespace segfold
