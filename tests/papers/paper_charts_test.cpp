// Charts of papers: every rung and number is there, in one unit, with colours that say what it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "dsl/error.h"
#include "runtime/papers/figures.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::papers::paper_charts_test {
namespace {

std::vector<const Experiment*> all_of(const Paper& paper)
{
    std::vector<const Experiment*> all;
    for (const auto& experiment : paper.experiments)
        all.push_back(&experiment);
    return all;
}

/// The parts of a chart that have data: its panels, or itself.
std::vector<Json> panels_of(const Json& chart)
{
    return chart.contains("hconcat") ? chart["hconcat"].get<std::vector<Json>>() : std::vector<Json>{chart};
}

/// All rows of the data of charts.
std::vector<Json> data_of(const std::vector<Json>& charts)
{
    std::vector<Json> rows;
    for (const auto& chart : charts)
        for (const auto& panel : panels_of(chart))
            for (const auto& row : panel["data"]["values"])
                rows.push_back(row);
    return rows;
}

bool says(const std::vector<Json>& rows, const std::string& row, const std::string& source,
          const std::string& text)
{
    return std::ranges::any_of(rows, [&](const Json& one) {
        return one["row"] == row && one.value("source", "") == source && one["text"] == text;
    });
}

/// Every rung of the experiments measured, each a little faster than the one before.
MeasuredPaper measured_of(const Paper& paper)
{
    MeasuredPaper measured;
    measured.machine.device = "GPU";
    measured.machine.date = "2026-11-20";
    for (const auto& experiment : paper.experiments) {
        MeasuredExperiment one{experiment.figure, {}};
        double milliseconds = 0.25;
        for (const auto& row : experiment.rows) {
            bench::Entry entry;
            entry.name = row.row;
            entry.milliseconds.median = milliseconds;
            entry.bytes_per_second = 4.0 * static_cast<double>(experiment.num_elements) / milliseconds * 1e3;
            milliseconds *= 0.8;
            one.record.entries.push_back(entry);
        }
        measured.experiments.push_back(std::move(one));
    }
    return measured;
}

/// What came with the program for a paper.
MeasuredPaper kept_of(const Paper& paper)
{
    const auto path = std::string(SEGFOLD_SOURCE_DIR "/papers/") + paper.measured.front();
    return measured_paper(path, read_text(path));
}

TEST(PaperCharts, HoldEveryPublishedTime)
{
    for (const std::string name : {"harris2007", "zuo2009", "butz2025"}) {
        const auto& paper = embedded_paper(name);
        const auto rows = data_of(charts_of(paper, all_of(paper), nullptr, "--vega"));
        for (const auto& value : paper.published) {
            if (value.metric != "time")
                continue;
            EXPECT_TRUE(says(rows, value.row, "published, " + value.device,
                             fmt::format("{} {}", value.value, value.unit)) ||
                        std::ranges::any_of(rows,
                                            [&](const Json& row) {
                                                return row["row"] == value.row &&
                                                       row["text"].get<std::string>().starts_with(
                                                           fmt::format("{} {}, ", value.value, value.unit));
                                            }))
                << name << ", " << value.row;
        }
    }
}

TEST(PaperCharts, HoldEveryMeasuredRowOfEveryPaper)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        const std::string source =
            paper.name == "segfold2026" ? "segfold" : "measured, " + measured.machine.device;
        std::size_t rows = 0;
        for (const auto& experiment : paper.experiments) {
            if (std::ranges::find(measured.experiments, experiment.figure, &MeasuredExperiment::figure) ==
                measured.experiments.end())
                continue;
            const auto drawn = data_of(charts_of(paper, {&experiment}, &measured, "--vega"));
            for (const auto& row : experiment.rows) {
                EXPECT_TRUE(std::ranges::any_of(drawn,
                                                [&](const Json& one) {
                                                    return one["row"] == row.row &&
                                                           one.value("source", "") == source;
                                                }))
                    << paper.name << ", " << experiment.figure << ", " << row.row;
                ++rows;
            }
        }
        EXPECT_EQ(std::ranges::count_if(data_of(charts_of(paper, all_of(paper), &measured, "--vega")),
                                        [&](const Json& one) { return one.value("source", "") == source; }),
                  static_cast<std::ptrdiff_t>(rows))
            << paper.name;
    }
}

TEST(PaperCharts, BarsStandForTimesAndSayTheirGain)
{
    const auto& paper = embedded_paper("harris2007");
    const auto measured = measured_of(paper);
    const auto charts = charts_of(paper, {&paper.experiments[0]}, &measured, "--vega");
    ASSERT_EQ(charts.size(), 1U);
    const auto rows = data_of(charts);
    EXPECT_TRUE(says(rows, "kernel 7", "published, G80", "0.268 ms, 30.04x")) << "as the source states it";
    EXPECT_TRUE(says(rows, "kernel 1", "measured, GPU", "0.25 ms")) << "in the source's unit";
    EXPECT_TRUE(says(rows, "kernel 2", "measured, GPU", "0.2 ms, 1.25x")) << "as it follows";
    const auto& x = charts[0]["layer"][0]["encoding"]["x"];
    EXPECT_EQ(x["title"], "time, ms, logarithmic scale") << "8.054 is 123 times 0.0655";
    EXPECT_EQ(x["scale"]["type"], "log");
    EXPECT_EQ(charts[0]["title"]["subtitle"],
              "sum of i32, 2^22 elements, blocks of 128 threads; x: times as fast as kernel 1");
}

TEST(PaperCharts, RatesAreDrawnWhereTheSourceHasNoTimes)
{
    const auto& paper = embedded_paper("harris2007");
    const auto measured = measured_of(paper);
    const auto rows = data_of(charts_of(paper, {&paper.experiments[1]}, &measured, "--vega"));
    EXPECT_TRUE(says(rows, "kernel 7", "published, G80", "73 GB/s"));
    EXPECT_TRUE(says(rows, "kernel 1", "measured, GPU", "536.9 GB/s"));
    EXPECT_TRUE(says(data_of(charts_of(paper, {&paper.experiments[1]}, nullptr, "--vega")), "kernel 1", "",
                     "kernel 1: no bandwidth"));
}

TEST(PaperCharts, WhatTheSourceComparesWithIsDrawnAndGainsWithoutATimeAreSaid)
{
    const auto& paper = embedded_paper("zuo2009");
    const auto rows = data_of(charts_of(paper, {&paper.experiments[0]}, nullptr, "--vega"));
    EXPECT_TRUE(says(rows, "CPU", "published, Core 2 Q6600", "30.69 ms")) << "the CPU, which is no rung";
    EXPECT_TRUE(says(rows, "threads overloaded", "", "threads overloaded: no time published, 34x"));
}

TEST(PaperCharts, ExperimentsThatDifferInSizeAloneAreLinesOverIt)
{
    const auto& butz = embedded_paper("butz2025");
    const auto measured = measured_of(butz);
    EXPECT_EQ(charts_of(butz, all_of(butz), nullptr, "--vega").size(), 2U);
    const auto charts = charts_of(butz, all_of(butz), &measured, "--vega");
    ASSERT_EQ(charts.size(), 2U) << "published and measured are panels of one chart";
    for (const auto& chart : charts)
        EXPECT_EQ(panels_of(chart).size(), 2U);
    const auto rows = data_of(charts);
    EXPECT_TRUE(says(rows, "01_seperate_kernels", "published, L4", "11.5146 us"));
    EXPECT_TRUE(says(rows, "02_atomic_kernel", "measured, GPU", "200 us"));
    for (const auto& chart : charts_of(butz, {&butz.experiments[0], &butz.experiments[1]}, nullptr, "--vega"))
        EXPECT_TRUE(chart.contains("layer")) << "two sizes are no line";
}

TEST(PaperCharts, WrongResultsAreCalledThat)
{
    const auto& paper = embedded_paper("harris2007");
    auto measured = measured_of(paper);
    measured.experiments[0].record.entries[3].agreement.agrees = false;
    EXPECT_TRUE(says(data_of(charts_of(paper, all_of(paper), &measured, "--vega")), "kernel 4",
                     "measured, GPU", "0.128 ms, wrong results, 1.95x"));
}

TEST(PaperCharts, SharesOfARowAreMeasuredAsTheyArePublished)
{
    const auto& paper = embedded_paper("badgujar2014");
    const auto measured = measured_of(paper);
    const auto rows = data_of(charts_of(paper, {&paper.experiments[1]}, &measured, "--vega"));
    EXPECT_TRUE(says(rows, "offset 0", "measured, GPU", "1.00 of offset 0, 250 us"));
    EXPECT_TRUE(says(rows, "offset 1", "measured, GPU", "1.25 of offset 0, 200 us")) << "a quarter faster";
    EXPECT_TRUE(std::ranges::any_of(rows, [](const Json& row) { return row["text"] == "0.8 of offset 0"; }));
    EXPECT_TRUE(std::ranges::any_of(rows, [](const Json& row) {
        return row.value("shown", "") == "1.25 of offset 0";
    })) << "the time is left to tips and tables";
}

TEST(PaperCharts, WhatIsMeasuredHasOneColourAndWhatIsPublishedAnother)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        for (const auto& chart : charts_of(paper, all_of(paper), &measured, "--vega")) {
            if (!chart.contains("layer"))
                continue;  // lines have the colours of rungs; the panel's title says what they are
            const auto& scale = chart["layer"][0]["encoding"]["color"]["scale"];
            ASSERT_EQ(scale["domain"].size(), scale["range"].size());
            std::set<std::string> colours;
            for (std::size_t i = 0; i < scale["domain"].size(); ++i) {
                const auto source = scale["domain"][i].get<std::string>();
                const auto colour = scale["range"][i].get<std::string>();
                const bool is_measured = source.starts_with("measured, ") || source == "segfold";
                const bool is_host = source.ends_with(", by the host's clock");
                EXPECT_EQ(colour == charts::kOrange, is_measured && !is_host) << paper.name << source;
                EXPECT_EQ(colour == charts::kAmber, is_host) << paper.name << source;
                EXPECT_TRUE(colours.insert(colour).second) << paper.name << source;
            }
        }
    }
}

/// The values of a chart are all in the unit that its axis names, and charts of the same rows have the same
/// axis.
TEST(PaperCharts, AnAxisHasOneScale)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        for (const auto& chart : charts_of(paper, all_of(paper), &measured, "--vega"))
            for (const auto& panel : panels_of(chart)) {
                const bool has_bars = panel.contains("layer");
                const auto axis =
                    (has_bars ? panel["layer"][0]["encoding"]["x"] : panel["encoding"]["y"])["title"]
                        .get<std::string>();
                if (axis == "share of the memory's read rate")
                    continue;  // of a contest: shares have no unit
                const auto begin = axis.find(", ") + 2;
                const auto unit = axis.substr(begin, axis.find(", logarithmic") - begin);
                for (const auto& row : panel["data"]["values"])
                    if (row.contains("value")) {
                        EXPECT_NE(row["text"].get<std::string>().find(" " + unit), std::string::npos)
                            << paper.name << ", " << axis << ": " << row;
                    }
            }
    }
    const auto& martin = embedded_paper("martin2012");
    const auto measured = kept_of(martin);
    std::set<std::string> axes;
    std::size_t count = 0;
    for (const auto& chart : charts_of(martin, all_of(martin), &measured, "--vega")) {
        if (chart.dump().find("tree over equal tiles") == std::string::npos)
            continue;
        axes.insert(chart["layer"][0]["encoding"]["x"].dump());
        ++count;
    }
    EXPECT_EQ(count, 10U);
    EXPECT_EQ(axes.size(), 1U) << *axes.begin() << "\n" << *axes.rbegin();
}

TEST(PaperCharts, GainsCountFromTheFirstRungOfOurs)
{
    const auto& paper = embedded_paper("zuo2009");
    const auto measured = measured_of(paper);
    const auto charts = charts_of(paper, {&paper.experiments[0]}, &measured, "--vega");
    EXPECT_TRUE(
        charts[0]["title"]["subtitle"].get<std::string>().ends_with("; x: times as fast as first form"));
    const auto rows = data_of(charts);
    EXPECT_TRUE(says(rows, "CPU", "measured, GPU", "0.25 ms"));
    EXPECT_TRUE(says(rows, "first form", "measured, GPU", "0.2 ms"));
    EXPECT_TRUE(says(rows, "instructions", "measured, GPU", "0.16 ms, 1.25x"));
    const auto& other = embedded_paper("badgujar2014");
    const auto kept = kept_of(other);
    const auto timers = charts_of(other, {&other.experiments.back()}, &kept, "--vega");
    EXPECT_EQ(timers[0].dump().find("times as fast"), std::string::npos) << "sizes differ from row to row";
    EXPECT_TRUE(std::ranges::any_of(data_of(timers), [](const Json& row) {
        return row.value("source", "") == "measured, NVIDIA H200, by the host's clock";
    }));
}

TEST(PaperCharts, ContestsShowThePlanBesideTheBestPeerAndStatedShares)
{
    const auto& paper = embedded_paper("segfold2026");
    const auto measured = kept_of(paper);
    const auto charts = charts_of(paper, all_of(paper), &measured, "--vega");
    EXPECT_EQ(charts.size(), paper.experiments.size());
    const auto rows = data_of(charts);
    EXPECT_TRUE(says(rows, "uniform=32", "segfold", "0.94, group_per_segment, 0.256 ms"));
    EXPECT_TRUE(says(rows, "uniform=32", "best of CUB and Thrust", "0.28, cub_fixed_size, 0.8649 ms"));
    EXPECT_TRUE(says(rows, "uniform=64", "published, NVIDIA H100", "0.955 of ceiling"));
    EXPECT_EQ(charts[0]["layer"][0]["encoding"]["x"]["title"], "share of the memory's read rate");
}

TEST(PaperCharts, AreRefusedWithoutNumbers)
{
    const auto& paper = embedded_paper("patel2014");
    EXPECT_TRUE(test::message_of<InputError>([&] {
                    (void)charts_of(paper, all_of(paper), nullptr, "--vega");
                }).starts_with("--vega: there is nothing to draw: patel2014 states no number"));
}

}  // namespace
}  // namespace segfold::papers::paper_charts_test
