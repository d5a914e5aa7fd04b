// segfold run --measure, its records, and tune --show and --forget.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runtime/cli/views/json_schema.h"
#include "tests/cli/cli_program.h"
#include "tests/common/json_schema.h"

namespace segfold::test::cli_spot_test {
namespace {

using Json = nlohmann::ordered_json;

class SpotTest : public testing::Test {
protected:
    SpotTest() { setenv("SEGFOLD_TUNING_DIR", folder_.file("tuning").c_str(), 1); }
    ~SpotTest() override { unsetenv("SEGFOLD_TUNING_DIR"); }

    [[nodiscard]] Json json(std::vector<std::string> words) const
    {
        words.emplace_back("--json");
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        auto document = Json::parse(result.output);
        EXPECT_EQ(judge_.faults(document), "") << words[0];
        return document;
    }
    [[nodiscard]] Json run(const std::string& op, std::vector<std::string> more = {}) const
    {
        std::vector<std::string> words = {"run",        op,     "--layout",  "geometric:mean=9",
                                          "--elements", "5000", "--backend", "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        return json(words);
    }

    ProgramFolder folder_;
    SchemaJudge judge_{cli::json_schema()};
};

TEST_F(SpotTest, RunsMeasureOnceAndSayWhoChose)
{
    if (!has_compiler())
        GTEST_SKIP() << "no C++ compiler";
    const auto plain = run("sum_f32");
    const auto first = run("sum_f32", {"--measure", "--check"});
    EXPECT_EQ(first["chosen_by"], "measured here");
    EXPECT_EQ(first["agrees"], true);
    const auto again = run("sum_f32", {"--measure", "3", "--explain"});
    EXPECT_EQ(again["chosen_by"], "spot record");
    EXPECT_EQ(again["stage"], first["stage"]);
    EXPECT_EQ(again["results"], first["results"]);
    const auto after = run("sum_f32");
    EXPECT_EQ(after["chosen_by"], plain["chosen_by"]) << "combine rounds, and nobody asked";
    EXPECT_EQ(after["stage"], plain["stage"]);
    EXPECT_EQ(after["results"], plain["results"]);
    EXPECT_EQ(run("sum_f32", {"--measure", "--no-tune"})["chosen_by"], "measured here");

    const auto exact = run("max_subarray_i32", {"--measure=2"});
    EXPECT_EQ(exact["chosen_by"], "measured here");
    const auto then = run("max_subarray_i32", {"--first", "best"});
    EXPECT_EQ(then["chosen_by"], "spot record") << "every stage gives the same bits";
    EXPECT_EQ(then["stage"], exact["stage"]);
    EXPECT_EQ(then["results"], exact["results"]);
}

TEST_F(SpotTest, KeysAndFlagsAreMeasuredToo)
{
    if (!has_compiler())
        GTEST_SKIP() << "no C++ compiler";
    for (const auto* layout : {"keys=[3,3,1,1,1,2,3]", "flags=[1,0,0,1,0,1,0]"})
        for (const auto* backend : {"cpu", "simt"}) {
            const std::vector<std::string> words = {
                "run", "sum_i32", "--layout", layout, "--input", "[1,2,4,8,16,32,64]", "--backend", backend};
            auto measuring = words;
            measuring.insert(measuring.end(), {"--measure", "--check"});
            const auto measured = json(measuring);
            EXPECT_EQ(measured["chosen_by"], "measured here") << layout << backend;
            EXPECT_EQ(measured["results"], json(words)["results"]) << layout << backend;
        }
}

TEST_F(SpotTest, RecordsAreShownAndForgotten)
{
    if (!has_compiler())
        GTEST_SKIP() << "no C++ compiler";
    EXPECT_TRUE(json({"tune", "--show"})["records"].empty());
    (void)run("sum_i32", {"--measure"});
    (void)run("max_i32", {"--measure"});
    const auto shown = json({"tune", "--show"});
    EXPECT_EQ(shown["records"].size(), 6u);
    EXPECT_EQ(shown["records"][0]["phase"], "spot");
    EXPECT_EQ(json({"tune", "--show", "max_i32"})["records"].size(), 3u);
    const auto text = folder_.run({"tune", "--show"}).output;
    EXPECT_NE(text.find("spot   sum  "), std::string::npos) << text;
    EXPECT_NE(text.find("6 plans in "), std::string::npos) << text;
    EXPECT_EQ(json({"tune", "--forget", "tuned"})["removed"], 0);
    EXPECT_EQ(json({"tune", "--forget", "spot", "sum_i32"})["removed"], 3);
    EXPECT_EQ(json({"tune", "--show"})["records"].size(), 3u);
    EXPECT_EQ(folder_.run({"tune", "--forget", "all"}).output,
              "removed 3 records from " + folder_.file("tuning") + "\n");
    EXPECT_TRUE(json({"tune", "--show"})["records"].empty());
}

/// What compiling takes counts, where it is asked for.
TEST_F(SpotTest, FastFirstTakesWhatIsCompiled)
{
    if (!has_compiler())
        GTEST_SKIP() << "no C++ compiler";
    setenv("SEGFOLD_CACHE_DIR", folder_.file("kernels").c_str(), 1);
    setenv("SEGFOLD_CACHE", "on", 1);
    const auto order = run("sum_f32");
    const std::string other = order["stage"] == "lane_scan" ? "lane_per_segment" : "lane_scan";
    std::filesystem::remove_all(folder_.file("kernels"));
    (void)run("sum_f32", {"--stage", other});
    EXPECT_EQ(run("sum_f32", {"--first", "best"})["stage"], order["stage"]);
    std::filesystem::remove_all(folder_.file("kernels"));
    (void)run("sum_f32", {"--stage", other});
    const auto fast = run("sum_f32", {"--first", "fast", "--check"});
    EXPECT_EQ(fast["stage"], other);
    EXPECT_EQ(fast["chosen_by"], "fast first");
    EXPECT_EQ(run("sum_f32")["stage"], order["stage"]) << "combine rounds, and nobody asked";
    setenv("SEGFOLD_CACHE", "off", 1);
    unsetenv("SEGFOLD_CACHE_DIR");
}

}  // namespace
}  // namespace segfold::test::cli_spot_test
