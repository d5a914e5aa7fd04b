// Plots of papers: every rung and number is there, texts do not lie on each other, and the files are well
// formed.
#include "runtime/cli/paper_plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "dsl/error.h"
#include "runtime/cli/chart_scale.h"
#include "runtime/cli/svg.h"
#include "tests/files.h"

namespace segfold::cli {
namespace {

std::vector<const Experiment*> all_of(const Paper& paper)
{
    std::vector<const Experiment*> all;
    for (const auto& experiment : paper.experiments)
        all.push_back(&experiment);
    return all;
}

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t number = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++number;
    return number;
}

/// What is wrong with the nesting of a text's tags; empty where nothing is.
std::string fault_of_markup(const std::string& text)
{
    static const std::regex tag(
        "<(\\?[^?]*\\?|!DOCTYPE html|/[a-z0-9]+|[a-z0-9]+( [a-zA-Z0-9:-]+=\"[^\"<>]*\")*/?)>");
    std::vector<std::string> open;
    std::size_t tags = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), tag); at != std::sregex_iterator(); ++at) {
        const std::string inside = at->str(1);
        ++tags;
        if (inside[0] == '?' || inside[0] == '!' || inside.back() == '/')
            continue;
        const auto name = inside.substr(inside[0] == '/', inside.find(' ') - (inside[0] == '/'));
        if (inside[0] != '/')
            open.push_back(name);
        else if (open.empty() || open.back() != name)
            return "</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
        else
            open.pop_back();
    }
    if (count(text, "<") != tags)
        return "not every < begins a tag";
    static const std::regex stray("&(?!amp;|lt;|gt;|quot;)");
    if (std::regex_search(text, stray))
        return "a stray &";
    return open.empty() ? "" : "<" + open.back() + "> stays open";
}

struct Box {
    double left, right, top, bottom;
    std::string text;
};

/// The places of the texts of each chart.
std::vector<std::vector<Box>> texts_of(const std::string& sheet)
{
    static const std::regex chart(
        "<g transform=|<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" font-size=\"([0-9.]+)\" "
        "fill=\"[^\"]*\"( text-anchor=\"(middle|end)\")?[^>]*>([^<]*)</text>");
    std::vector<std::vector<Box>> charts;
    for (std::sregex_iterator at(sheet.begin(), sheet.end(), chart); at != std::sregex_iterator(); ++at) {
        if (!(*at)[1].matched) {
            charts.emplace_back();
            continue;
        }
        const double size = std::stod(at->str(3)), width = text_width(at->str(6), size);
        const double x = std::stod(at->str(1)) - (at->str(5) == "end"      ? width
                                                  : at->str(5) == "middle" ? width / 2
                                                                           : 0);
        const double y = std::stod(at->str(2));
        charts.back().push_back({x, x + width, y - 0.75 * size, y + 0.2 * size, at->str(6)});
    }
    return charts;
}

void expect_readable(const std::string& sheet, const std::string& what)
{
    for (const auto& boxes : texts_of(sheet))
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            EXPECT_GE(boxes[i].left, 0) << what << ": " << boxes[i].text;
            EXPECT_LE(boxes[i].right, 960) << what << ": " << boxes[i].text;
            for (std::size_t k = 0; k < i; ++k)
                EXPECT_FALSE(boxes[i].left < boxes[k].right && boxes[k].left < boxes[i].right &&
                             boxes[i].top < boxes[k].bottom && boxes[k].top < boxes[i].bottom)
                    << what << ": '" << boxes[k].text << "' and '" << boxes[i].text << "'";
        }
}

/// Every rung of the experiments measured, each a little faster than the one before.
MeasuredPaper measured_of(const Paper& paper)
{
    MeasuredPaper measured;
    measured.machine.device = "NVIDIA <H200> & co";
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

bool has_numbers(const Paper& paper)
{
    return std::ranges::any_of(paper.published, [](const auto& value) {
        return value.metric == "time" || value.metric == "bandwidth";
    });
}

TEST(PaperPlot, OfEveryPaperIsWellFormedAndReadable)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = measured_of(paper);
        for (const auto* ours : {static_cast<const MeasuredPaper*>(nullptr), &measured}) {
            if (!ours && !has_numbers(paper))
                continue;
            const auto what = paper.name + (ours ? ", measured" : ", published");
            const auto sheet = plot(paper, all_of(paper), ours, PlotFormat::svg);
            const auto page = plot(paper, all_of(paper), ours, PlotFormat::html);
            EXPECT_EQ(fault_of_markup(sheet), "") << what;
            EXPECT_EQ(fault_of_markup(page), "") << what;
            expect_readable(sheet, what);
            for (const auto& text : {sheet, page}) {
                EXPECT_EQ(count(text, "http"), count(text, "xmlns=\"http://www.w3.org/2000/svg\"")) << what;
                EXPECT_EQ(count(text, "<desc id="), count(text, " role=\"img\"")) << what;
            }
            std::set<std::string> ids;
            static const std::regex id(" id=\"([^\"]*)\"");
            for (std::sregex_iterator at(page.begin(), page.end(), id); at != std::sregex_iterator(); ++at)
                EXPECT_TRUE(ids.insert(at->str(1)).second) << what << ": " << at->str(1) << " twice";
        }
    }
}

TEST(PaperPlot, HoldsEveryRungAndEveryPublishedTime)
{
    for (const std::string name : {"harris2007", "zuo2009", "butz2025"}) {
        const auto& paper = embedded_paper(name);
        const auto sheet = plot(paper, all_of(paper), nullptr, PlotFormat::svg);
        const auto page = plot(paper, all_of(paper), nullptr, PlotFormat::html);
        for (const auto& value : paper.published) {
            if (value.metric != "time")
                continue;
            const auto number = fmt::format("{} {}", value.value, value.unit);
            for (const auto& text : {sheet, page}) {
                EXPECT_NE(text.find(value.row), std::string::npos) << name << ", " << value.row;
                EXPECT_NE(text.find(number), std::string::npos) << name << ", " << number;
                EXPECT_NE(text.find("published, " + value.device), std::string::npos) << name;
            }
        }
    }
}

TEST(PaperPlot, BarsStandForTimesAndSayTheirGain)
{
    const auto& paper = embedded_paper("harris2007");
    const auto measured = measured_of(paper);
    const auto sheet = plot(paper, {&paper.experiments[0]}, &measured, PlotFormat::svg);
    EXPECT_NE(sheet.find(">0.268 ms, 30.04x</text>"), std::string::npos) << "as the source states it";
    EXPECT_NE(sheet.find(">0.25 ms</text>"), std::string::npos) << "in the source's unit";
    EXPECT_NE(sheet.find(">0.2 ms, 1.25x</text>"), std::string::npos) << "as it follows";
    EXPECT_NE(sheet.find("logarithmic scale"), std::string::npos) << "8.054 is 123 times 0.0655";
    EXPECT_NE(sheet.find("measured, NVIDIA &lt;H200&gt; &amp; co"), std::string::npos);
    EXPECT_EQ(sheet.find("<H200>"), std::string::npos);
}

TEST(PaperPlot, RatesAreDrawnWhereTheSourceHasNoTimes)
{
    const auto& paper = embedded_paper("harris2007");
    const auto measured = measured_of(paper);
    const auto sheet = plot(paper, {&paper.experiments[1]}, &measured, PlotFormat::svg);
    EXPECT_NE(sheet.find("bandwidth, GB/s"), std::string::npos);
    EXPECT_NE(sheet.find(">73 GB/s</text>"), std::string::npos);
    EXPECT_NE(sheet.find(">536.9 GB/s</text>"), std::string::npos);
    EXPECT_NE(plot(paper, {&paper.experiments[1]}, nullptr, PlotFormat::svg).find(">no bandwidth</text>"),
              std::string::npos);
}

TEST(PaperPlot, WhatTheSourceComparesWithIsDrawnAndGainsWithoutATimeAreSaid)
{
    const auto& paper = embedded_paper("zuo2009");
    const auto sheet = plot(paper, {&paper.experiments[0]}, nullptr, PlotFormat::svg);
    EXPECT_NE(sheet.find(">30.69 ms</text>"), std::string::npos) << "the CPU, which is no rung";
    EXPECT_NE(sheet.find(">no time published, 34x</text>"), std::string::npos);
}

TEST(PaperPlot, ExperimentsThatDifferInSizeAloneAreLinesOverIt)
{
    const auto& butz = embedded_paper("butz2025");
    const auto measured = measured_of(butz);
    EXPECT_EQ(count(plot(butz, all_of(butz), nullptr, PlotFormat::svg), " role=\"img\""), 2U);
    const auto sheet = plot(butz, all_of(butz), &measured, PlotFormat::svg);
    EXPECT_EQ(count(sheet, " role=\"img\""), 2U) << "published and measured are panels of one chart";
    EXPECT_EQ(count(sheet, "<polyline"), 3 * (7U + 10U)) << "in the legend and in two panels";
    EXPECT_NE(sheet.find("<title>published, L4, 01_seperate_kernels, 2^16: 11.5146 us.</title>"),
              std::string::npos);
    EXPECT_NE(
        sheet.find("<title>measured, NVIDIA &lt;H200&gt; &amp; co, 02_atomic_kernel, 2^21: 200 us.</title>"),
        std::string::npos);
    EXPECT_EQ(
        plot(butz, {&butz.experiments[0], &butz.experiments[1]}, nullptr, PlotFormat::svg).find("<polyline"),
        std::string::npos)
        << "two sizes are no line";
}

TEST(PaperPlot, WrongResultsAreCalledThat)
{
    const auto& paper = embedded_paper("harris2007");
    auto measured = measured_of(paper);
    measured.experiments[0].record.entries[3].agreement.agrees = false;
    EXPECT_NE(plot(paper, all_of(paper), &measured, PlotFormat::svg).find("0.128 ms, wrong results"),
              std::string::npos);
}

template <class Call>
std::string refusal(Call call)
{
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(PaperPlot, IsRefusedWithoutNumbersOrAFile)
{
    const auto& paper = embedded_paper("patel2014");
    EXPECT_TRUE(refusal([&] {
                    (void)plot(paper, all_of(paper), nullptr, PlotFormat::svg);
                }).starts_with("--plot: there is nothing to draw: patel2014 states no number"));
    EXPECT_EQ(refusal([] { (void)plot_format("plot.png"); }),
              "--plot: 'plot.png' ends neither in .svg nor in .html");
    const auto& other = embedded_paper("harris2007");
    const TemporaryFolder folder;
    const auto file = folder.file("none/plot.html");
    EXPECT_EQ(refusal([&] { save_plot(file, other, all_of(other), nullptr); }), file + ": cannot be written");
}

TEST(Scale, BeginsAtZeroUnlessValuesDifferTwentyfold)
{
    const Scale linear(1, 20, 100, 300);
    EXPECT_FALSE(linear.is_logarithmic());
    EXPECT_EQ(linear.place(0), 100);
    EXPECT_EQ(linear.place(20), 300);
    EXPECT_EQ(linear.ticks(), (std::vector<double>{0, 5, 10, 15, 20}));
    const Scale logarithmic(1, 21, 100, 300);
    EXPECT_TRUE(logarithmic.is_logarithmic());
    EXPECT_GT(logarithmic.place(1), 100) << "the shortest bar is to be seen";
    EXPECT_DOUBLE_EQ(logarithmic.place(10) - logarithmic.place(1),
                     logarithmic.place(20) - logarithmic.place(2));
}

TEST(Scale, HoldsEveryValueBetweenItsFirstAndItsLastTick)
{
    for (const double least : {1e-6, 0.037, 0.1, 1.0, 7.3, 4096.0})
        for (const double factor : {1.0, 1.5, 3.0, 20.0, 21.0, 1e3, 1e7}) {
            const Scale scale(least, least * factor, 0, 1);
            const auto ticks = scale.ticks();
            ASSERT_GE(ticks.size(), 2U) << least << " " << factor;
            EXPECT_LE(ticks.size(), 13U) << least << " " << factor;
            EXPECT_GT(scale.place(least), 0) << least << " " << factor;
            EXPECT_LE(scale.place(least * factor), 1 + 1e-9) << least << " " << factor;
            for (const double tick : ticks) {
                EXPECT_GE(scale.place(tick), -1e-9);
                EXPECT_LE(scale.place(tick), 1 + 1e-9);
            }
        }
}

TEST(Svg, EscapesMarkupAndControlCharacters)
{
    EXPECT_EQ(escaped("a<b> & \"c\"\n\x01"), "a&lt;b&gt; &amp; &quot;c&quot;  ");
    EXPECT_GT(text_width("wide", 12), text_width("i.i.", 12));
    EXPECT_EQ(text_width("\xc3\xa4", 12), text_width("a", 12)) << "one letter of two bytes";
}

}  // namespace
}  // namespace segfold::cli
