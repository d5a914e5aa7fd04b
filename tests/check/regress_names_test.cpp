// By which names a baseline knows operators, and what is said of one that knows none of those asked for.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/backends/device_identity.h"
#include "runtime/check/baseline.h"
#include "tests/cli/cli_program.h"

namespace segfold::test::regress_names_test {
namespace {

constexpr const char* kMine =
    "operator mine(x: f32) -> f32 {\n  state sum: f32 = 0\n  lift x\n  combine(a, b) a + b\n}\n";

class RegressNames : public testing::Test {
protected:
    void SetUp() override
    {
        (void)folder_.write("mine.seg", kMine);
        (void)folder_.write("copy.seg", kMine);
    }

    /// Writes a baseline of this machine in which the operator has one time.
    void write_times(const std::string& op, const std::string& device = host_identity().name) const
    {
        regress::Baseline baseline;
        regress::DeviceTimes times{device, "", "g++", kElements, {}};
        times.cases.push_back({op, "lane_scan", "whole", "read", "", kRounds, ""});
        times.cases.push_back({op, "lane_scan", "uniform=8", "another whole", "", kRounds, ""});
        times.cases.push_back({"unmeasured", "lane_scan", "whole", "read", "", {}, ""});
        baseline.replace(std::move(times));
        regress::write_baseline(folder_.file("b.json"), baseline);
    }

    [[nodiscard]] ProgramResult run(const std::string& op, const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> words = {"regress", op,           "--time", "--backend",
                                          "cpu",     "--layout",   "whole",  "--elements",
                                          "65536",   "--baseline", "b.json"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    }

    /// The names of the operators whose cases were compared.
    [[nodiscard]] std::vector<std::string> compared(const std::string& op) const
    {
        const auto result = run(op, {"--stage", "lane_scan", "--json"});
        EXPECT_NE(result.exit_code, 2) << result.errors;
        std::vector<std::string> names;
        const auto document = nlohmann::json::parse(result.output);
        for (const auto& one : document["times"]["cases"])
            if (one["verdict"] != "no_baseline")
                names.push_back(one["operator"]);
        return names;
    }

    [[nodiscard]] std::string refusal_of(const std::string& op,
                                         const std::vector<std::string>& more = {}) const
    {
        const auto result = run(op, more);
        EXPECT_EQ(result.exit_code, 2) << result.output;
        return result.errors;
    }

    static constexpr std::int64_t kElements = 65536;
    static inline const regress::Rounds kRounds = regress::Rounds(3, {1, 1, 1});
    ProgramFolder folder_;
};

TEST_F(RegressNames, AFileHasItsCasesWhereverItLies)
{
    if (!has_compiler())
        GTEST_SKIP() << "--backend cpu needs a C++ compiler";
    write_times("mine");
    const std::vector<std::string> mine = {"mine"};
    for (const auto& path : {std::string("mine.seg"), std::string("./mine.seg"), folder_.file("copy.seg")})
        EXPECT_EQ(compared(path), mine) << path;
    write_times("./mine.seg");  // as files have it that were saved by the path
    EXPECT_EQ(compared("./mine.seg"), mine);
}

TEST_F(RegressNames, ABaselineOfOthersIsRefused)
{
    write_times("./mine.seg");
    EXPECT_EQ(refusal_of("mine.seg"),
              "segfold: b.json: has no times of mine, which is asked for, but of the operators ./mine.seg\n");
    write_times("mine");
    EXPECT_EQ(refusal_of("mine.seg", {"--stage", "row_tree"}),
              "segfold: b.json: has no times of mine by the stage row_tree, which is asked for, but by "
              "lane_scan\n");
    EXPECT_EQ(folder_.run({"regress", "mine.seg", "--static", "--baseline", "b.json"}).errors,
              "segfold: b.json: has no static costs; --time compares the times that it has\n");
    regress::Baseline costs;
    costs.static_costs = {"NVRTC 13.0", {{"sum_f32", "tile_scan", "whole", "", "sm_90", 40, 0, 0, 0, 100}}};
    regress::write_baseline(folder_.file("b.json"), costs);
    EXPECT_EQ(refusal_of("mine.seg"),
              "segfold: b.json: has no times; --static compares the costs that it has\n");
    const auto others = folder_.run({"regress", "mine.seg", "--static", "--baseline", "b.json"});
    EXPECT_NE(others.exit_code, 0);
    EXPECT_EQ(others.errors.substr(0, 9), "segfold: ") << others.errors;
    regress::write_baseline(folder_.file("b.json"), {});
    EXPECT_EQ(refusal_of("mine.seg"), "segfold: b.json: has no times\n");
}

TEST_F(RegressNames, ABaselineOfAnotherDeviceIsRefused)
{
    if (!has_compiler())
        GTEST_SKIP() << "--backend cpu needs a C++ compiler";
    write_times("mine", "NVIDIA H100");
    EXPECT_EQ(refusal_of("mine.seg"),
              "segfold: b.json: has no times of " + host_identity().name + ", but of NVIDIA H100\n");
}

TEST_F(RegressNames, TwoOfOneNameAreRefusedBesideABaseline)
{
    write_times("mine");
    EXPECT_EQ(
        refusal_of("mine.seg,copy.seg"),
        "segfold: --baseline: mine.seg and copy.seg have one name, 'mine', by which a baseline knows an "
        "operator; give them names of their own, or a run each\n");
}

}  // namespace
}  // namespace segfold::test::regress_names_test
