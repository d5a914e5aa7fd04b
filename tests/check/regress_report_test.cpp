// What segfold regress says of costs and times, and the exit code that follows.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/cli/regress/view.h"

namespace segfold::test::regress_report_test {
namespace {

using regress::Verdict;

regress::TimeOutcome outcome(const std::string& stage, const std::string& layout, Verdict verdict)
{
    regress::TimeOutcome one;
    one.now = {"sum_f32", stage, layout, layout == "whole" ? "read" : "grid_reduce whole", "", {{1.25}}, ""};
    one.verdict = verdict;
    one.median = 1.25;
    one.baseline_median = verdict == Verdict::no_baseline ? 0 : 1.19;
    one.effect = 0.0504;
    one.noise = 0.003;
    one.p = 1e-9;
    return one;
}

/// The last line of a report of times alone.
const std::string kUntried = "\nnot tried: relations; static costs\n";

cli::RegressReport report_of(const std::vector<regress::TimeOutcome>& outcomes)
{
    cli::RegressReport report;
    report.times.emplace();
    report.times->times.device = "NVIDIA H200";
    report.times->times.driver = "13.0";
    report.times->times.num_elements = 1024;
    report.times->outcomes = outcomes;
    return report;
}

TEST(RegressReport, TimesAreTabledAndTheWorstComesFirst)
{
    auto noisy = outcome("tile_scan", "zipf", Verdict::ambiguous);
    noisy.reason = "too few samples";
    auto left_out = outcome("thread_per_segment", "whole", Verdict::no_baseline);
    left_out.now.rounds.clear();
    auto report = report_of({outcome("tile_scan", "whole", Verdict::same), noisy, left_out,
                             outcome("thread_per_segment", "zipf", Verdict::worse)});
    report.times->baseline = "h200.json";
    report.times->remarks = {"the driver is 13.0, the baseline's was 12.8"};
    EXPECT_EQ(
        print(report),
        "device    NVIDIA H200, driver 13.0\n"
        "times     1024 elements; over those of the same stage unsegmented, '*' of another one; whole: over "
        "those of reading\n"
        "baseline  h200.json\n"
        "note      the driver is 13.0, the baseline's was 12.8\n"
        "\n"
        "sum_f32             whole   zipf\n"
        "tile_scan            1.25  1.25*\n"
        "thread_per_segment      -  1.25*\n"
        "\n"
        "operator  stage               layout  then   now  change  noise      p\n"
        "sum_f32   thread_per_segment  zipf    1.19  1.25  +5.0 %  0.3 %  1e-09  worse\n"
        "sum_f32   tile_scan           zipf    1.19  1.25  +5.0 %  0.3 %  1e-09  ambiguous: too few samples\n"
        "\n"
        "3 cases compared: 1 worse, 0 better, 1 too noisy to tell\n" +
            kUntried);
}

TEST(RegressReport, WhatIsOverTheCutOffHasTrueNumbersOrNone)
{
    auto worse = outcome("tile_scan", "whole", Verdict::worse);
    worse.effect = 111;
    worse.median = 133.3;
    auto unmeasured = outcome("tile_scan", "zipf", Verdict::ambiguous);
    unmeasured.now.rounds.clear();
    unmeasured.reason = "measured then, not now: it fails";
    auto report = report_of({unmeasured, worse});
    report.times->baseline = "b.json";
    const auto text = print(report);
    EXPECT_NE(
        text.find("then    now    change  noise      p\n"
                  "sum_f32   tile_scan  whole   1.19  133.3  112-fold  0.3 %  1e-09  worse\n"
                  "sum_f32   tile_scan  zipf    1.19      -         -      -      -  ambiguous: measured "
                  "then, not now: it fails\n"),
        std::string::npos)
        << text;
    EXPECT_FALSE(json_of(report)["times"]["cases"][0].contains("effect"));
    EXPECT_EQ(json_of(report)["times"]["cases"][1]["effect"], 111);
}

TEST(RegressReport, TimesThatTheBaselineHasNotAreCounted)
{
    auto left_out = outcome("row_groups", "whole", Verdict::no_baseline);
    left_out.now.rounds.clear();
    const auto unknown = outcome("tile_scan", "zipf", Verdict::no_baseline);
    auto report = report_of({left_out, unknown});
    const auto ends_with = [&](const std::string& end) {
        return print(report).ends_with("\n\n" + end + kUntried);
    };
    EXPECT_TRUE(ends_with("no baseline to compare them with\n")) << print(report);
    report.times->baseline = "h200.json";
    EXPECT_TRUE(ends_with("1 case without a baseline\nnothing to compare\n")) << print(report);
    report.times->outcomes.push_back(outcome("tile_scan", "whole", Verdict::same));
    EXPECT_TRUE(
        ends_with("1 case without a baseline\n"
                  "1 case compared: 0 worse, 0 better, 0 too noisy to tell\n"))
        << print(report);
}

TEST(RegressReport, WhatIsNotMeasuredHasItsReasonUnderTheTable)
{
    const auto without = [](const std::string& stage, const std::string& layout, const std::string& reason) {
        auto one = outcome(stage, layout, Verdict::no_baseline);
        one.now.rounds.clear();
        one.now.reason = reason;
        return one;
    };
    std::vector<regress::TimeOutcome> outcomes = {
        without("row_tree", "whole", "folds rows"), without("row_tree", "zipf", "folds rows"),
        without("tile_scan", "zipf", "one launch took 444 ms, 112 times as long as reading")};
    auto report = report_of(outcomes);
    report.unsaved = "nothing is saved to b.json: no time was measured";
    const std::string reasons =
        "not measured:\n"
        "    tile_scan over zipf: one launch took 444 ms, 112 times as long as reading\n"
        "    row_tree over whole, zipf: folds rows\n";
    const auto all = print(report);
    EXPECT_NE(
        all.find("row_tree       -     -\ntile_scan            -\n\n" + reasons + "\nno time was measured\n"),
        std::string::npos)
        << all;
    EXPECT_TRUE(all.ends_with("\n\nnothing is saved to b.json: no time was measured\n" + kUntried)) << all;
    EXPECT_EQ(report.exit_code(), 5);
    EXPECT_EQ(json_of(report)["unsaved"], report.unsaved);

    outcomes.push_back(outcome("tile_scan", "whole", Verdict::no_baseline));
    EXPECT_EQ(report_of(outcomes).exit_code(), 0);
    EXPECT_NE(print(report_of(outcomes)).find("\n" + reasons), std::string::npos);
    EXPECT_EQ(print(report_of(outcomes)).find("no time was measured"), std::string::npos);
    for (int i = 0; i < 20; ++i)
        outcomes.push_back(without("stage" + std::to_string(i), "zipf", "one launch took long"));
    EXPECT_NE(print(report_of(outcomes)).find("\n    and 10 more; --json has the reason of each case\n"),
              std::string::npos)
        << print(report_of(outcomes));
}

TEST(RegressReport, ExitCodesTellWorseFromNoisy)
{
    EXPECT_EQ(cli::RegressReport().exit_code(), 0);
    const auto code = [](std::vector<Verdict> verdicts) {
        std::vector<regress::TimeOutcome> outcomes;
        for (const auto verdict : verdicts)
            outcomes.push_back(outcome("tile_scan", "zipf", verdict));
        return report_of(outcomes).exit_code();
    };
    EXPECT_EQ(code({Verdict::same, Verdict::better, Verdict::no_baseline}), 0);
    EXPECT_EQ(code({Verdict::same, Verdict::ambiguous}), 5);
    EXPECT_EQ(code({Verdict::ambiguous, Verdict::worse}), 1);
    auto self = report_of({outcome("tile_scan", "zipf", Verdict::no_baseline)});
    self.times->selves = {{10, 0, 0}};
    EXPECT_EQ(self.exit_code(), 0);
    self.times->selves.push_back({10, 0, 2});
    EXPECT_EQ(self.exit_code(), 5);
    self.times->selves.push_back({10, 1, 0});
    EXPECT_EQ(self.exit_code(), 1);
    EXPECT_NE(
        print(self).find("against itself: 1 alarm in 1 of 3 comparisons, 2 of 30 cases too noisy to tell"),
        std::string::npos)
        << print(self);
}

TEST(RegressReport, CostsThatGrowAreARegression)
{
    cli::RegressReport report;
    report.static_costs.emplace();
    auto& costs = *report.static_costs;
    costs.costs = {"NVRTC 13.0", {{"sum_f32", "tile_scan", "whole", "", "sm_90", 40, 8, 0, 0, 100}}};
    costs.baseline = "b.json";
    costs.baseline_compiler = "NVRTC 12.8";
    costs.verdict.same_compiler = false;
    costs.verdict.num_compared = 1;
    EXPECT_EQ(report.exit_code(), 0);
    costs.verdict.changes = {{costs.costs.costs[0], "spill_bytes", 0, 8}};
    EXPECT_EQ(report.exit_code(), 1);
    const auto text = print(report);
    EXPECT_NE(text.find("Another compiler than the baseline's"), std::string::npos) << text;
    EXPECT_NE(text.find("sum_f32   tile_scan  whole  sm_90  spill_bytes     0    8  worse"),
              std::string::npos)
        << text;
    EXPECT_TRUE(json_of(report)["static_costs"]["changes"][0]["is_worse"]);
    EXPECT_EQ(json_of(report)["exit_code"], 1);
    EXPECT_TRUE(print(report).ends_with("\nnot tried: relations; times\n")) << print(report);
    EXPECT_EQ(json_of(report)["not_tried"], nlohmann::json({"relations", "times"}));
}

}  // namespace
}  // namespace segfold::test::regress_report_test
