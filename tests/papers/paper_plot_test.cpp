// Plots of papers: every rung and number is there, texts do not lie on each other, and the files are well
// formed.
#include "runtime/papers/plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "dsl/error.h"
#include "runtime/papers/chart_scale.h"
#include "runtime/papers/svg.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::papers::paper_plot_test {
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

/// What a reader sees of escaped text.
std::string unescaped(std::string text)
{
    for (const auto& [entity, letter] :
         {std::pair<std::string, std::string>{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
        for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
            text.replace(at, entity.size(), letter);
    return text;
}

/// A drawing of a file: how wide it is, and the places of its texts.
struct DrawnTexts {
    double width = 0;
    std::vector<Box> boxes;
};

std::vector<DrawnTexts> texts_of(const std::string& file)
{
    static const std::regex part(
        "<svg xmlns=\"[^\"]*\" width=\"([0-9]+)\"|<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" "
        "font-size=\"([0-9.]+)\" "
        "fill=\"[^\"]*\" class=\"[^\"]*\"( text-anchor=\"(middle|end)\")?[^>]*>([^<]*)</text>");
    std::vector<DrawnTexts> drawings;
    for (std::sregex_iterator at(file.begin(), file.end(), part); at != std::sregex_iterator(); ++at) {
        if ((*at)[1].matched) {
            drawings.push_back({std::stod(at->str(1)), {}});
            continue;
        }
        const auto text = unescaped(at->str(7));
        const double size = std::stod(at->str(4)), width = text_width(text, size);
        const double x = std::stod(at->str(2)) - (at->str(6) == "end"      ? width
                                                  : at->str(6) == "middle" ? width / 2
                                                                           : 0);
        const double y = std::stod(at->str(3));
        drawings.back().boxes.push_back({x, x + width, y - 0.75 * size, y + 0.2 * size, text});
    }
    return drawings;
}

/// No text lies on another one or beyond its drawing, and none begins with a comma or the like.
void expect_readable(const std::string& file, const std::string& what)
{
    for (const auto& [width, boxes] : texts_of(file))
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const auto place = what + ", " + std::to_string(static_cast<int>(width)) + ": " + boxes[i].text;
            EXPECT_GE(boxes[i].left, 0) << place;
            EXPECT_LE(boxes[i].right, width) << place;
            ASSERT_FALSE(boxes[i].text.empty()) << what;
            EXPECT_EQ(std::string(",;:. ").find(boxes[i].text[0]), std::string::npos) << place;
            for (std::size_t k = 0; k < i; ++k)
                EXPECT_FALSE(boxes[i].left < boxes[k].right && boxes[k].left < boxes[i].right &&
                             boxes[i].top < boxes[k].bottom && boxes[k].top < boxes[i].bottom)
                    << place << " and '" << boxes[k].text << "'";
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
            expect_readable(page, what + ", page");
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

/// What came with the program for a paper.
MeasuredPaper kept_of(const Paper& paper)
{
    const auto path = std::string(SEGFOLD_SOURCE_DIR "/papers/") + paper.measured.front();
    return measured_paper(path, read_text(path));
}

/// What a bar or a mark says of itself, with its classes: its style is that of what it stands for.
std::vector<std::pair<std::string, std::string>> tips_of(const std::string& file)
{
    static const std::regex shape("class=\"([a-z0-9-]+)\"><title>([^<]*)</title>");
    std::vector<std::pair<std::string, std::string>> tips;
    for (std::sregex_iterator at(file.begin(), file.end(), shape); at != std::sregex_iterator(); ++at)
        tips.emplace_back(at->str(1), at->str(2));
    return tips;
}

TEST(PaperPlot, EveryMeasuredRowOfEveryPaperIsDrawn)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        const auto whole = plot(paper, all_of(paper), &measured, PlotFormat::svg);
        std::size_t rows = 0;
        for (const auto& experiment : paper.experiments) {
            const auto tips = tips_of(plot(paper, {&experiment}, &measured, PlotFormat::svg));
            for (const auto& row : experiment.rows) {
                const auto begin = escaped(row.row + ", measured, " + measured.machine.device + ": ");
                EXPECT_TRUE(std::ranges::any_of(tips,
                                                [&](const auto& tip) {
                                                    return tip.first == "measured" &&
                                                           tip.second.starts_with(begin);
                                                }))
                    << paper.name << ", " << experiment.figure << ", " << row.row;
                ++rows;
            }
        }
        // In bars "ROW, measured, DEVICE: TIME.", in lines "measured, DEVICE, ROW, SIZE: TIME."
        EXPECT_EQ(std::ranges::count_if(tips_of(whole),
                                        [&](const auto& tip) {
                                            return tip.second.find("measured, NVIDIA H200") !=
                                                       std::string::npos &&
                                                   tip.second.find("host's clock") == std::string::npos;
                                        }),
                  static_cast<std::ptrdiff_t>(rows))
            << paper.name;
    }
}

TEST(PaperPlot, SharesOfARowAreMeasuredAsTheyArePublished)
{
    const auto& paper = embedded_paper("badgujar2014");
    const auto measured = measured_of(paper);
    const auto sheet = plot(paper, {&paper.experiments[1]}, &measured, PlotFormat::svg);
    EXPECT_NE(sheet.find(">0.8 of offset 0</text>"), std::string::npos) << "published";
    EXPECT_NE(sheet.find(">1.00 of offset 0</text>"), std::string::npos);
    EXPECT_NE(sheet.find(">1.25 of offset 0</text>"), std::string::npos) << "each is a quarter faster";
    const auto page = plot(paper, {&paper.experiments[1]}, &measured, PlotFormat::html);
    EXPECT_NE(page.find("<td>1.25 of offset 0, 200 us</td>"), std::string::npos)
        << "the table has the time too";
}

TEST(PaperPlot, WhatIsMeasuredHasOneColourAndWhatIsPublishedAnother)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        const auto sheet = plot(paper, all_of(paper), &measured, PlotFormat::svg);
        for (const auto& [paint, tip] : tips_of(sheet)) {
            if (paint.starts_with("line-"))
                continue;  // a rung's own; the panel says what it is
            const bool is_measured = tip.find(", measured, ") != std::string::npos;
            const bool is_host = tip.find("host's clock") != std::string::npos;
            EXPECT_TRUE(is_host       ? paint == "host-clock"
                        : is_measured ? paint == "measured"
                                      : paint.starts_with("published"))
                << paper.name << ", " << paint << ": " << tip;
        }
        // The stripe above a panel of lines.
        static const std::regex stripe(
            "font-weight=\"bold\">(measured|published), [^\n]*\n<rect [^>]*class=\"([a-z-]+)");
        for (std::sregex_iterator at(sheet.begin(), sheet.end(), stripe); at != std::sregex_iterator(); ++at)
            EXPECT_EQ(at->str(1), at->str(2));
    }
}

/// The values of a chart are all in the unit that its axis names, and charts of the same rows have the same
/// axis.
TEST(PaperPlot, AnAxisHasOneScale)
{
    static const std::regex axis("(time|bandwidth|efficiency), ([^,]+)(, logarithmic scale)?");
    static const std::regex value("[0-9.]+ (ns|us|ms|s|GB/s|of [a-z]+ [0-9]+)(, .*)?");
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        for (const auto& [width, boxes] : texts_of(plot(paper, all_of(paper), &measured, PlotFormat::svg))) {
            std::set<std::string> units;
            std::string unit;
            std::smatch parts;
            for (const auto& box : boxes)
                if (std::regex_match(box.text, parts, axis))
                    unit = parts[2];
            for (const auto& box : boxes)
                if (box.text.find("elements") == std::string::npos &&
                    std::regex_match(box.text, parts, value))
                    units.insert(parts[1]);
            units.insert(unit);
            EXPECT_EQ(units.size(), 1U) << paper.name << ": " << fmt::format("{}", fmt::join(units, "; "));
        }
    }
    const auto& martin = embedded_paper("martin2012");
    const auto measured = kept_of(martin);
    std::set<std::string> axes;
    std::size_t charts = 0;
    for (const auto& [width, boxes] : texts_of(plot(martin, all_of(martin), &measured, PlotFormat::svg))) {
        if (std::ranges::find(boxes, "tree over equal tiles", &Box::text) == boxes.end())
            continue;
        std::string ticks;
        for (const auto& box : boxes)
            if (box.text.find_first_not_of("0123456789.") == std::string::npos)
                ticks += fmt::format("{} at {:.0f}; ", box.text, box.left);
        axes.insert(ticks);
        ++charts;
    }
    EXPECT_EQ(charts, 10U);
    EXPECT_EQ(axes.size(), 1U) << *axes.begin() << "\n" << *axes.rbegin();
}

TEST(PaperPlot, GainsCountFromTheFirstRungOfOurs)
{
    const auto& paper = embedded_paper("zuo2009");
    const auto measured = measured_of(paper);
    const auto sheet = plot(paper, {&paper.experiments[0]}, &measured, PlotFormat::svg);
    EXPECT_NE(sheet.find("; x: times as fast as first form</text>"), std::string::npos);
    EXPECT_NE(sheet.find(">0.25 ms</text>"), std::string::npos) << "the CPU";
    EXPECT_NE(sheet.find(">0.2 ms</text>"), std::string::npos) << "the first form";
    EXPECT_NE(sheet.find(">0.16 ms, 1.25x</text>"), std::string::npos);
    const auto& other = embedded_paper("badgujar2014");
    const auto kept = kept_of(other);
    const auto timers = plot(other, {&other.experiments.back()}, &kept, PlotFormat::svg);
    EXPECT_EQ(timers.find("times as fast"), std::string::npos) << "sizes differ from row to row";
    EXPECT_NE(timers.find("measured, NVIDIA H200, by the host's clock"), std::string::npos);
}

TEST(PaperPlot, PagesAreDarkWhereReadersPreferThat)
{
    for (const auto& paper : embedded_papers()) {
        const auto measured = kept_of(paper);
        for (const auto format : {PlotFormat::svg, PlotFormat::html}) {
            const auto text = plot(paper, all_of(paper), &measured, format);
            EXPECT_EQ(count(text, dark_style()), 1U) << paper.name;
            static const std::regex paint(" (fill|stroke)=\"#[0-9a-f]{6}\"( class=\"([a-z0-9-]+)\")?");
            std::set<std::string> classes;
            for (std::sregex_iterator at(text.begin(), text.end(), paint); at != std::sregex_iterator(); ++at)
                classes.insert(at->str(3));
            for (const auto& one : classes)
                EXPECT_EQ(count(dark_style(), "  ." + one + " {"), 1U) << paper.name << ": '" << one << "'";
        }
    }
}

TEST(PaperPlot, IsRefusedWithoutNumbersOrAFile)
{
    const auto& paper = embedded_paper("patel2014");
    EXPECT_TRUE(test::message_of<InputError>([&] {
                    (void)plot(paper, all_of(paper), nullptr, PlotFormat::svg);
                }).starts_with("--plot: there is nothing to draw: patel2014 states no number"));
    EXPECT_EQ(test::message_of<InputError>([] { (void)plot_format("plot.png"); }),
              "--plot: 'plot.png' ends neither in .svg nor in .html");
    const auto& other = embedded_paper("harris2007");
    const TemporaryFolder folder;
    const auto file = folder.file("none/plot.html");
    EXPECT_EQ(test::message_of<InputError>([&] { save_plot(file, other, all_of(other), nullptr); }),
              file + ": cannot be written: No such file or directory");
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
}  // namespace segfold::papers::paper_plot_test
