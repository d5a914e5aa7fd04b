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

const Stage kFitting = stage_with(
    "//% tune items_per_thread = 16, 8, 32\n"
    "//% tune block_threads = 96, 64, 32, 128\n"
    "//% let lane_bytes = items_per_thread * element_bytes\n"
    "//% let block_bytes = block_threads * lane_bytes\n"
    "//% where block_bytes <= 4096\n"
    "//% fits mean_length >= 6 || items_per_thread <= 8\n"
    "//% let behind = nothing_knows_this\n");

FormulaNames facts(std::int64_t element_bytes, std::int64_t mean_length = 64)
{
    return {{"element_bytes", element_bytes}, {"mean_length", mean_length}};
}

std::string nearest(const std::map<std::string, int>& wanted, const FormulaNames& known,
                    const std::map<std::string, int>& chosen = {})
{
    const auto found = nearest_configuration(kFitting, wanted, chosen, known);
    return found ? print(*found) : "none";
}

TEST(NearestConfiguration, IsTheWantedOneWhereItIsAllowed)
{
    EXPECT_EQ(nearest({{"block_threads", 64}, {"items_per_thread", 8}}, facts(4)),
              "block_threads=64 items_per_thread=8");
    EXPECT_EQ(nearest({{"block_threads", 32}}, facts(4)), "block_threads=32 items_per_thread=16")
        << "the first value of what is not said";
    EXPECT_EQ(nearest({{"block_threads", 100}, {"items_per_thread", 1}}, facts(4)),
              "block_threads=96 items_per_thread=8")
        << "the greatest value up to it, else the least above it";
}

TEST(NearestConfiguration, GivesWayInTheLastTunableFirst)
{
    EXPECT_EQ(nearest({{"block_threads", 128}, {"items_per_thread", 16}}, facts(4)),
              "block_threads=64 items_per_thread=16");
    EXPECT_EQ(nearest({{"block_threads", 128}, {"items_per_thread", 32}}, facts(8)),
              "block_threads=32 items_per_thread=16");
    const auto least = stage_with("//% tune t = 2, 4, 8\n//% where num_segments <= t\n");
    const auto raised = nearest_configuration(least, {{"t", 2}}, {}, {{"num_segments", 3}});
    EXPECT_EQ(print(raised.value()), "t=4") << "a greater value, where no lesser one will do";
}

TEST(NearestConfiguration, FitsUnlessTheUserSaysOtherwise)
{
    const std::map<std::string, int> wanted = {{"block_threads", 64}, {"items_per_thread", 16}};
    EXPECT_EQ(nearest(wanted, facts(4, 5)), "block_threads=64 items_per_thread=8");
    EXPECT_EQ(nearest(wanted, facts(4, 5), {{"items_per_thread", 16}}),
              "block_threads=64 items_per_thread=16");
    EXPECT_EQ(nearest(wanted, facts(4), {{"items_per_thread", 32}}), "block_threads=32 items_per_thread=32")
        << "the others give way to what is chosen";
    EXPECT_EQ(nearest(wanted, facts(100)), "none") << "what must hold never gives way";
}

TEST(Configuration, OfAStageWithoutRowsIsTheNearestToItsFirstValues)
{
    EXPECT_EQ(print(default_configuration(kFitting)), "block_threads=96 items_per_thread=16")
        << "nothing is known, so nothing is asked";
    EXPECT_EQ(print(default_configuration(kFitting, facts(4))), "block_threads=64 items_per_thread=16");
    EXPECT_EQ(print(configure(kFitting, {{"block_threads", 128}}, facts(4))),
              "block_threads=128 items_per_thread=8");
    try {
        (void)default_configuration(kFitting, facts(100));
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "stage x: block_threads=96 items_per_thread=16 is excluded; it must hold that "
                     "block_bytes <= 4096");
    }
}

TEST(Configuration, ConditionsOverUnknownNamesAreTheStagesFaultToo)
{
    const auto stage = stage_with("//% tune t = 1, 2\n//% fits t < mean_lenght\n");
    EXPECT_EQ(print(default_configuration(stage)), "t=1") << "nobody asks";
    try {
        (void)default_configuration(stage, facts(4));
        FAIL() << "accepted";
    } catch (const SpecError& error) {
        EXPECT_STREQ(error.what(),
                     "stages/x.cu:6: in 't < mean_lenght': unknown name 'mean_lenght'; did you mean "
                     "'mean_length'?");
    }
}

TEST(Sizes, AreKnownToConditionsBelowThem)
{
    std::string all;
    for (const auto& configuration : configurations(kFitting, facts(4, 5)))
        all += print(configuration) + "\n";
    EXPECT_EQ(all,
              "block_threads=64 items_per_thread=16\n"
              "block_threads=32 items_per_thread=16\n"
              "block_threads=96 items_per_thread=8\n"
              "block_threads=64 items_per_thread=8\n"
              "block_threads=32 items_per_thread=8\n"
              "block_threads=128 items_per_thread=8\n"
              "block_threads=32 items_per_thread=32\n")
        << "whether they fit is asked of none that is given";
    EXPECT_EQ(kFitting.sizes.size(), 2u) << "those behind the last condition are for launches";
}

}  // namespace
}  // namespace segfold::configuration_test
