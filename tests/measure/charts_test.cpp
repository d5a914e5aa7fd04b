// Specifications of charts: axes, texts, one chart or many; measurements as bars and lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/measure/charts/bench_chart.h"
#include "runtime/measure/charts/chart.h"

namespace segfold::charts::charts_test {
namespace {

BarChart bars(std::initializer_list<double> values)
{
    BarChart chart{"title", "", "time, ms", {}, {}, {{"measured", {}, kOrange}}};
    for (const double value : values) {
        chart.rows.push_back("row " + std::to_string(chart.rows.size()));
        chart.series[0].marks.push_back(Mark{value, std::to_string(value) + " ms"});
    }
    return chart;
}

const Json& axis_of(const Json& spec) { return spec["layer"][0]["encoding"]["x"]; }

TEST(Chart, AxesBeginAtZeroUnlessValuesDifferTwentyfold)
{
    const auto linear = vega_lite(bars({1, 20}));
    EXPECT_FALSE(axis_of(linear)["scale"].contains("type"));
    EXPECT_EQ(axis_of(linear)["scale"]["domain"], Json({0, 20}));
    EXPECT_EQ(linear["layer"][0]["encoding"]["x2"]["datum"], 0);
    const auto logarithmic = vega_lite(bars({1, 21}));
    EXPECT_EQ(axis_of(logarithmic)["scale"]["type"], "log");
    EXPECT_EQ(axis_of(logarithmic)["scale"]["domain"], Json({0.5, 50}));
    EXPECT_EQ(axis_of(logarithmic)["axis"]["values"], Json({0.5, 1, 2, 5, 10, 20, 50}));
    EXPECT_EQ(logarithmic["layer"][0]["encoding"]["x2"]["datum"], 0.5) << "bars begin where the axis does";
}

TEST(Chart, LogarithmicAxesHoldEveryValueBetweenTheirEnds)
{
    for (const double least : {1e-6, 0.037, 0.1, 1.0, 7.3, 4096.0})
        for (const double factor : {21.0, 1e3, 1e7}) {
            const auto spec = vega_lite(bars({least, least * factor}));
            const auto& domain = axis_of(spec)["scale"]["domain"];
            EXPECT_LT(domain[0].get<double>(), least) << "the shortest bar is to be seen";
            EXPECT_GE(domain[1].get<double>(), least * factor * (1 - 1e-12));
            EXPECT_GE(axis_of(spec)["axis"]["values"].size(), 2U);
            EXPECT_LE(axis_of(spec)["axis"]["values"].size(), 13U);
        }
}

TEST(Chart, RowsWithoutBarsSayWhy)
{
    auto chart = bars({1, 2});
    chart.notes = {"not said", "no time"};
    chart.series[0].marks[1].reset();
    const auto values = vega_lite(chart)["data"]["values"];
    ASSERT_EQ(values.size(), 3U);
    EXPECT_EQ(values[0]["text"], "row 0");
    EXPECT_EQ(values[1]["value"], 1);
    EXPECT_EQ(values[2]["text"], "row 1: no time");
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i]["line"], i) << "no two lie on each other";
}

TEST(Chart, OneIsAsWideAsItsPageAndManyLeaveRoomForTheirTexts)
{
    const auto one = vega_lite(std::vector{vega_lite(bars({1, 2}))});
    EXPECT_EQ(one["width"], "container");
    EXPECT_EQ(axis_of(one)["scale"]["range"][1]["expr"], "max(width - 85.0, width / 3)");
    const auto many = vega_lite(std::vector{one, one});
    ASSERT_EQ(many["vconcat"].size(), 2U);
    EXPECT_EQ(many["$schema"], one["$schema"]);
    EXPECT_EQ(many["config"], one["config"]);
    EXPECT_EQ(many["resolve"]["scale"]["color"], "independent");
    for (const auto& part : many["vconcat"]) {
        EXPECT_EQ(part["width"], 720);
        EXPECT_EQ(axis_of(part)["scale"]["range"][1], 635);
        for (const auto* member : {"$schema", "config", "usermeta"})
            EXPECT_FALSE(part.contains(member)) << member;
    }
}

TEST(Chart, LinesNameTheirSizes)
{
    const Series line{"a", {Mark{1, "1 us"}, std::nullopt, Mark{40, "40 us"}}};
    LineChart chart{
        "title", "", "time, us", "elements", {1024, 1500, 4096}, {"2^10", "1500", "2^12"}, {{"GPU", {line}}}};
    const auto one = vega_lite(chart);
    EXPECT_EQ(one["title"]["text"], "title, GPU");
    EXPECT_EQ(one["data"]["values"].size(), 2U);
    EXPECT_EQ(one["encoding"]["x"]["axis"]["labelExpr"],
              R"(({"1024": "2^10", "1500": "1500", "4096": "2^12"})[datum.value])");
    EXPECT_EQ(one["encoding"]["y"]["scale"]["type"], "log");
    chart.panels.push_back(chart.panels.front());
    const auto two = vega_lite(chart);
    EXPECT_EQ(two["hconcat"].size(), 2U);
    EXPECT_EQ(two["title"]["text"], "title");
    EXPECT_EQ(two["hconcat"][0]["title"]["text"], "GPU");
}

bench::Entry entry(const std::string& name, double fraction, bool is_chosen = false, bool is_peer = false)
{
    bench::Entry made;
    made.name = name;
    made.is_chosen = is_chosen;
    made.is_peer = is_peer;
    made.milliseconds.median = 0.5;
    made.bytes_per_second = fraction * 4e12;
    made.fraction = fraction;
    return made;
}

bench::WorkloadRecord record(const std::string& layout, std::int64_t num_elements)
{
    bench::WorkloadRecord made;
    made.op = "sum";
    made.layout = layout;
    made.num_elements = num_elements;
    made.entries = {entry("tile_scan", 0.5), entry("warp_stream", 0.9, true), entry("cub", 0.25, false, true),
                    entry("slow", 0.1)};
    made.entries.back().outcome = bench::Outcome::abandoned;
    return made;
}

/// The text of a row's value of a source; empty if there is none.
std::string text_of(const Json& spec, const std::string& row, const std::string& source)
{
    for (const auto& value : spec["data"]["values"])
        if (value["row"] == row && value.value("source", "") == source)
            return value["text"];
    return "";
}

TEST(BenchChart, OneWorkloadHasABarForEachPlanAndPeer)
{
    auto one = record("uniform=4", 1 << 20);
    one.entries[0].agreement.agrees = false;
    const auto chart = bench_chart({&one, 1}, "GPU");
    ASSERT_TRUE(chart);
    EXPECT_EQ((*chart)["title"]["text"], "sum of f32, uniform=4, 2^20 elements");
    EXPECT_EQ(axis_of(*chart)["title"], "share of the memory's read rate");
    EXPECT_EQ((*chart)["data"]["values"].size(), 6U) << "the abandoned plan has no bar";
    EXPECT_EQ(text_of(*chart, "warp_stream", "the plan of a run"), "0.90, 0.5 ms");
    EXPECT_EQ(text_of(*chart, "tile_scan", "other stages"), "0.50, 0.5 ms, wrong results");
    EXPECT_EQ(text_of(*chart, "cub", "peers"), "0.25, 0.5 ms");
}

TEST(BenchChart, AHostWithoutACeilingHasRates)
{
    auto one = record("uniform=4", 1 << 20);
    for (auto& each : one.entries)
        each.fraction = 0;
    const auto chart = bench_chart({&one, 1}, "host");
    ASSERT_TRUE(chart);
    EXPECT_EQ(axis_of(*chart)["title"], "rate, GB/s");
    EXPECT_EQ(text_of(*chart, "warp_stream", "the plan of a run"), "3600 GB/s, 0.5 ms");
}

TEST(BenchChart, ManyWorkloadsHaveTheirPlanBesideTheBestPeer)
{
    std::vector records = {record("uniform=4", 1 << 20), record("whole", 1 << 20)};
    auto chart = bench_chart(records, "GPU");
    ASSERT_TRUE(chart);
    EXPECT_EQ((*chart)["title"]["text"], "sum of f32, 2^20 elements");
    EXPECT_EQ(text_of(*chart, "whole", "the plan of a run"), "0.90, 0.5 ms, warp_stream");
    EXPECT_EQ(text_of(*chart, "uniform=4", "best peer"), "0.25, 0.5 ms, cub");
    records[1].op = "argmax";
    records[1].num_elements = 1000;
    chart = bench_chart(records, "GPU");
    EXPECT_EQ(text_of(*chart, "argmax of f32, whole, 1000", "best peer"), "0.25, 0.5 ms, cub");
}

TEST(BenchChart, SizesOfOneLayoutAreLines)
{
    const std::vector records = {record("whole", 1 << 10), record("whole", 1 << 11),
                                 record("whole", 1 << 12)};
    const auto chart = bench_chart(records, "GPU");
    ASSERT_TRUE(chart);
    EXPECT_EQ((*chart)["mark"]["type"], "line");
    EXPECT_EQ((*chart)["data"]["values"].size(), 6U);
    EXPECT_EQ((*chart)["title"]["text"], "sum of f32, whole, GPU");
}

TEST(BenchChart, NothingIsDrawnWithoutATime)
{
    auto one = record("whole", 1);
    for (auto& each : one.entries)
        each.outcome = bench::Outcome::failed;
    EXPECT_FALSE(bench_chart({&one, 1}, "GPU"));
    EXPECT_FALSE(bench_chart(std::vector{one, one}, "GPU"));
}

}  // namespace
}  // namespace segfold::charts::charts_test
