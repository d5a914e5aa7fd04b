// Warnings of the program: one line each, or the full text with --explain.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/cli_program.h"

namespace segfold::cli_warnings_test {
namespace {

class WarningsTest : public testing::Test {
protected:
    void SetUp() override
    {
        (void)folder_.write("longest_gap.seg",
                            "operator longest_gap(time: i32) -> i32 {\n"
                            "  state { first: i32; last: i32; gap: i32 }\n"
                            "  lift { first = time; last = time; gap = 0 }\n"
                            "  combine(a, b) {\n"
                            "    first = min(a.first, b.first);\n"
                            "    last = max(a.last, b.last);\n"
                            "    gap = max(max(a.gap, b.gap), b.first - a.last)\n"
                            "  }\n"
                            "  finish gap\n"
                            "}\n");
    }

    test::ProgramFolder folder_;
};

const std::string kLine =
    "segfold: warning: operator longest_gap is not associative; only stages that fold strictly from left to "
    "right "
    "can serve; data sorted by 'time' do not refute it: if 'time' never decreases in a segment of yours, "
    "rely on it "
    "with --assume associative";

TEST_F(WarningsTest, ALawOfSortedDataIsSaidInOneLineWithTheWayOut)
{
    std::vector<std::string> command = {"run", "longest_gap.seg", "--input", "time=[1, 2, 5, 6]", "--backend",
                                        "cpu", "--no-tune"};
    const auto result = folder_.run(command);
    EXPECT_EQ(result.errors, kLine + " (--explain shows more)\n");
    command.insert(command.end(), {"--assume", "associative"});
    const auto assumed = folder_.run(command);
    EXPECT_EQ(assumed.exit_code, 0) << assumed.errors;
    EXPECT_NE(assumed.output.find("\n      0       4       3\n"), std::string::npos) << assumed.output;
    EXPECT_EQ(std::ranges::count(assumed.errors, '\n'), 1) << assumed.errors;
}

TEST_F(WarningsTest, ExplainSaysTheRest)
{
    const auto result = folder_.run(
        {"run", "longest_gap.seg", "--input", "time=[1, 2, 5, 6]", "--backend", "cpu", "--explain"});
    EXPECT_TRUE(result.errors.starts_with(kLine + "\ncombine is not associative:\n    a = "))
        << result.errors;
    EXPECT_NE(result.errors.find("\n    (not refuted by 167 triples where 'time' never decreases)\n"),
              std::string::npos)
        << result.errors;
}

/// If there is no plan to explain, --explain still shows the warnings.
TEST_F(WarningsTest, EveryRunTakesExplain)
{
    const std::vector<std::string> command = {
        "run",    "--op", "a + b",   "--identity", "0", "--lift", "x != nan ? x : 0",
        "--type", "f32",  "--input", "x=[1, 2]"};
    const std::string line =
        "segfold: warning: 'x != nan' is always true: NaN compares unequal to everything, to itself too; "
        "write "
        "!isnan(x)\n";
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--backend", "reference"},
                                                 {"--backend", "reference", "--slices", "2"},
                                                 {"--backend", "reference", "--memory", "1M"}}) {
        auto words = command;
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(folder_.run(words).errors, line);
        words.emplace_back("--explain");
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_TRUE(result.errors.starts_with(line)) << result.errors;
    }
}

}  // namespace
}  // namespace segfold::cli_warnings_test
