// The table of back ends, and a new one through the verbs of the program.
#include <gtest/gtest.h>

#include <sstream>

#include "dsl/error.h"
#include "runtime/cli/verbs.h"
#include "tests/skeleton_backend.h"

namespace segfold::test {
namespace {

template <class Call>
std::string message_of(Call call)
{
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no InputError";
}

TEST(Backends, StandInATable)
{
    std::vector<std::string> names;
    for (const auto& entry : backends())
        names.push_back(entry.name);
    ASSERT_GE(names.size(), 5U);
    names.resize(5);
    EXPECT_EQ(names, (std::vector<std::string>{"cuda", "simt", "reference", "thrust", "cpu"}));
}

TEST(Backends, UnknownNamesAndOptionsOfOthersAreRefused)
{
    EXPECT_EQ(message_of([] { (void)make_backend("smt"); }).substr(0, 24), "unknown back end 'smt'; ");
    EXPECT_EQ(message_of([] { (void)make_backend("reference", {.device = 0}); }),
              "a device chooses a GPU, and the back end reference uses none");
    EXPECT_EQ(message_of([] { (void)make_backend("thrust", {.schedule_seed = 3}); }),
              "a schedule's seed orders the threads of simt, and the back end is thrust");
    EXPECT_EQ(message_of([] {
                  add_backend({"simt", "", false, false, {}});
              }),
              "a back end is named 'simt' already; take another name");
}

TEST(Backends, AStageWithoutAPlanIsOurFault)
{
    const auto backend = make_backend("simt");
    EXPECT_THROW((void)backend->run({}, nullptr), InternalError);
}

/// Runs a verb of the program in this process; its standard output and its exit code.
std::pair<std::string, int> run_verb(int (*verb)(const cli::Words&), const cli::Words& words)
{
    testing::internal::CaptureStdout();
    const int code = verb(words);
    return {testing::internal::GetCapturedStdout(), code};
}

TEST(Backends, ANewOneRunsThroughRunCheckAndRegress)
{
    add_skeleton_backend();
    const auto [run, run_code] =
        run_verb(cli::verb_run, {"sum", "--type", "i32", "--elements", "5000", "--layout", "geometric:mean=9",
                                 "--backend", "skeleton", "--check"});
    EXPECT_EQ(run_code, 0) << run;
    EXPECT_NE(run.find("skeleton: the reference under another name"), std::string::npos) << run;
    EXPECT_NE(run.find("agree with the reference bit for bit"), std::string::npos) << run;
    const auto [check, check_code] = run_verb(
        cli::verb_check,
        {"sum", "--type", "i32", "--elements", "2048", "--stage", "tile_scan", "--backend", "skeleton"});
    EXPECT_EQ(check_code, 0) << check;
    EXPECT_NE(check.find("agree with the reference"), std::string::npos) << check;
    const auto [regress, regress_code] =
        run_verb(cli::verb_regress, {"sum", "--type", "i32", "--relations", "--elements", "500", "--stage",
                                     "warp_per_segment", "--backend", "skeleton"});
    EXPECT_EQ(regress_code, 0) << regress;
    EXPECT_NE(regress.find("all hold"), std::string::npos) << regress;
}

}  // namespace
}  // namespace segfold::test
