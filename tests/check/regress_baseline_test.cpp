// Baselines: what was written is read again, and damage is pointed at.
#include <gtest/gtest.h>

#include "runtime/check/baseline.h"
#include "tests/common/files.h"

namespace segfold::test::regress_baseline_test {
namespace {

using regress::Baseline;
using regress::parse_baseline;

Baseline example()
{
    Baseline baseline;
    regress::StaticCost cost{"sum_f32", "tile_scan", "offsets", "block_threads=64", "sm_90", 40, 0,
                             8,         1024,        512};
    baseline.static_costs = {"NVRTC 13.0", {cost, cost}};
    baseline.static_costs->costs[1].architecture = "sm_80";
    regress::DeviceTimes times{"NVIDIA H200", "13.0", "NVRTC 13.0", 1 << 26, {}};
    times.cases.push_back(
        {"sum_f32 --type 'x'", "tile_scan", "zipf", "whole", "", {{1.5, 1.25}, {1.125}}, ""});
    baseline.times.push_back(std::move(times));
    return baseline;
}

TEST(Baseline, WhatIsWrittenIsReadAgain)
{
    const TemporaryFolder folder;
    regress::write_baseline(folder.file("b.json"), example());
    const auto read = regress::read_baseline(folder.file("b.json"));
    ASSERT_TRUE(read.static_costs);
    EXPECT_EQ(read.static_costs->compiler, "NVRTC 13.0");
    EXPECT_EQ(read.static_costs->costs, example().static_costs->costs);
    ASSERT_NE(read.find("NVIDIA H200"), nullptr);
    EXPECT_EQ(read.find("NVIDIA H100"), nullptr);
    const auto& one = read.times[0].cases.at(0);
    EXPECT_TRUE(one.same_case(example().times[0].cases[0]));
    EXPECT_EQ(one.rounds, (regress::Rounds{{1.5, 1.25}, {1.125}}));
    EXPECT_EQ(read.times[0].num_elements, 1 << 26);
    EXPECT_EQ(print(read), print(example()));
    auto tiny = example();
    tiny.times[0].cases[0].rounds[0][0] = 1e-320;
    EXPECT_EQ(regress::parse_baseline("b.json", print(tiny)).times[0].cases[0].rounds[0][0], 1e-320);
}

TEST(Baseline, ADeviceIsReplacedAndOthersStay)
{
    auto baseline = example();
    baseline.replace({"NVIDIA H100", "12.8", "NVRTC 12.8", 5, {}});
    baseline.replace({"NVIDIA H200", "13.1", "NVRTC 13.0", 6, {}});
    EXPECT_EQ(baseline.times.size(), 2u);
    EXPECT_EQ(baseline.find("NVIDIA H200")->driver, "13.1");
    EXPECT_EQ(baseline.find("NVIDIA H100")->num_elements, 5);
}

TEST(Baseline, CasesOfOtherOperatorsStayWhereTheyAreComparable)
{
    auto baseline = example();
    const auto is_other = [](const auto& one) { return one.op != "max_f32"; };
    const auto times = [](const std::string& driver) {
        return regress::DeviceTimes{"NVIDIA H200",
                                    driver,
                                    "NVRTC 13.0",
                                    1 << 26,
                                    {{"max_f32", "tile_scan", "zipf", "whole", "", {{2}}, ""}}};
    };
    EXPECT_EQ(baseline.replace(times("13.0"), is_other), 0u);
    EXPECT_EQ(baseline.replace(times("13.0"), is_other), 0u);  // puts its own in place of its own
    ASSERT_EQ(baseline.times[0].cases.size(), 2u);
    EXPECT_EQ(baseline.times[0].cases[0].op, "sum_f32 --type 'x'");
    EXPECT_EQ(baseline.times[0].cases[1].op, "max_f32");
    EXPECT_EQ(baseline.replace(times("13.1"), is_other), 1u);
    EXPECT_EQ(baseline.times[0].cases.size(), 1u);

    regress::StaticCost cost{"max_f32", "tile_scan", "offsets", "", "sm_90", 1, 2, 3, 4, 5};
    EXPECT_EQ(baseline.replace({"NVRTC 13.0", {cost}}, is_other), 0u);
    EXPECT_EQ(baseline.static_costs->costs.size(), 3u);
    EXPECT_EQ(baseline.replace({"NVRTC 13.1", {cost}}, is_other), 2u);
    EXPECT_EQ(baseline.static_costs->costs, std::vector{cost});
}

/// What parse_baseline() says of the example's text with a part replaced.
std::string complaint(const std::string& from, const std::string& to)
{
    auto text = print(example());
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return refusal([&] { (void)parse_baseline("b.json", text); });
}

TEST(Baseline, DamageIsPointedAt)
{
    EXPECT_EQ(complaint("segfold regress baseline", "segfold bench"),
              "b.json: document.format is \"segfold bench\"; 'segfold regress baseline' is needed, which "
              "--save writes");
    EXPECT_EQ(complaint("\"version\": 1", "\"version\": 2"),
              "b.json: document.version is 2; this program reads version 1");
    EXPECT_EQ(complaint("\"registers\":40", "\"registers\":-1"),
              "b.json: document.static_costs.costs[0].registers is -1; an integer from 0 to 9007199254740992 "
              "is needed");
    EXPECT_EQ(complaint("\"registers\":40,", ""),
              "b.json: document.static_costs.costs[0] has no 'registers'");
    EXPECT_EQ(complaint("1.25", "-1.25"),
              "b.json: document.times[0].cases[0].rounds[0][1] is -1.25; a ratio must be a positive number");
    EXPECT_EQ(complaint("[1.125]", "[]"),
              "b.json: document.times[0].cases[0].rounds[1] is []; a round has at least one ratio");
    EXPECT_EQ(complaint("\"zipf\"", "7"), "b.json: document.times[0].cases[0].layout is 7; a text is needed");
    EXPECT_EQ(complaint("{\"format\"", "{format"),
              "b.json: no JSON: byte 3: a baseline is what --save has written");
    EXPECT_EQ(complaint("\"registers\"", "\"stage\""), "b.json: one object has two members 'stage'");
    EXPECT_EQ(complaint("1.25", "1e999"), "b.json:8: the number 1e999 is beyond what a 64-bit float holds");
    EXPECT_EQ(complaint("\"static_costs\"", "\"static costs\"").substr(0, 38),
              "b.json: document.static costs is {\"com");
    EXPECT_EQ(refusal([] { (void)parse_baseline("b.json", "[]"); }),
              "b.json: document is []; an object is needed");
    EXPECT_EQ(refusal([] { (void)parse_baseline("b.json", "{}"); }),
              "b.json: not a file that regress --save has written: it has no 'format'");
    EXPECT_EQ(
        refusal([] { (void)parse_baseline("b.json", "{\"segfold\": \"1\"}"); }),
        "b.json: not a file that regress --save has written: it has no 'format', and begins with 'segfold'");
}

TEST(Baseline, NoDamageCrashes)
{
    const auto text = print(example());
    const auto attempt = [](const std::string& damaged) {
        try {
            (void)parse_baseline("b.json", damaged);
        } catch (const InputError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("b.json: ")) << error.what();
        }
    };
    for (std::size_t size = 0; size < text.size(); ++size)
        attempt(text.substr(0, size));
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        auto damaged = text;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        attempt(damaged);
    }
}

}  // namespace
}  // namespace segfold::test::regress_baseline_test
