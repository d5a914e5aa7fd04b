#include "runtime/cli/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/cli/chart_scale.h"

namespace segfold::cli {
namespace {

// Okabe and Ito's colours, which people with any vision tell apart; those that are pale on white come last.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#56b4e9", "#e69f00", "#4d4d4d"};
constexpr std::array kShapes = {Shape::circle, Shape::square, Shape::diamond, Shape::triangle};
constexpr std::string_view kGrid = "#dddddd";
constexpr std::string_view kAxis = "#777777";
constexpr std::string_view kQuiet = "#555555";

constexpr double kWidth = 960;
constexpr double kMargin = 20;
constexpr double kTitleSize = 16;
constexpr double kText = 12;
constexpr double kLine = 18;    ///< from one line of text to the next
constexpr double kSample = 26;  ///< a legend's sample with its gap
constexpr double kBar = 16;     ///< a bar's height
constexpr double kBarGap = 2;   ///< between bars of a group
constexpr double kGroupGap = 10;
constexpr double kPanelHeight = 320;
constexpr double kPanelGap = 30;
constexpr double kBaseline = 4;  ///< from a text's middle to where it stands

std::string_view colour_of(std::size_t index) { return kColours[index % kColours.size()]; }

/// Shapes change with every colour; where colours begin again they are others, and lines are dashed.
Shape shape_of(std::size_t index)
{
    return kShapes[(index % kColours.size() + 2 * (index / kColours.size())) % kShapes.size()];
}

bool is_dashed(std::size_t index) { return index >= kColours.size(); }

struct Range {
    double least = HUGE_VAL;
    double greatest = 0;

    void take(const Series& series)
    {
        for (const auto& mark : series.marks)
            if (mark) {
                least = std::min(least, mark->value);
                greatest = std::max(greatest, mark->value);
            }
    }
};

/// Title and subtitle; returns where the next line of text may stand.
double draw_heading(Drawing& drawing, const std::string& title, const std::string& subtitle)
{
    double y = kMargin + kTitleSize;
    drawing.text(kMargin, y, title, {.size = kTitleSize, .is_bold = true});
    y += kLine;
    drawing.text(kMargin, y, subtitle, {.colour = kQuiet});
    return y + kLine + kGroupGap;
}

/// Samples with names, in as many lines as they take; returns where the next line of text may stand.
template <class DrawSample>
double draw_legend(Drawing& drawing, double y, const std::vector<Series>& series, DrawSample draw_sample)
{
    double x = kMargin;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const double width = kSample + text_width(series[i].name, kText) + kMargin;
        if (x > kMargin && x + width > kWidth) {
            x = kMargin;
            y += kLine;
        }
        draw_sample(x, y - kBaseline, i);
        drawing.text(x + kSample, y, series[i].name);
        x += width;
    }
    return y + kLine;
}

std::string axis_text(const std::string& axis, const Scale& scale)
{
    return scale.is_logarithmic() ? axis + ", logarithmic scale" : axis;
}

std::string tick_text(double value) { return fmt::format("{:g}", value); }

/// The width that the longest of the texts takes.
template <class Texts>
double widest(const Texts& texts)
{
    double width = 0;
    for (const auto& text : texts)
        width = std::max(width, text_width(text, kText));
    return width;
}

std::vector<std::string> mark_texts(const std::vector<Series>& series)
{
    std::vector<std::string> texts;
    for (const auto& one : series)
        for (const auto& mark : one.marks)
            if (mark)
                texts.push_back(mark->text);
    return texts;
}

/// The bars of a category that are there, at least a line's worth.
std::size_t num_lines(const BarChart& chart, std::size_t category)
{
    const auto count = std::ranges::count_if(
        chart.series, [&](const Series& series) { return series.marks[category].has_value(); });
    return std::max<std::size_t>(1, static_cast<std::size_t>(count));
}

double group_height(const BarChart& chart, std::size_t category)
{
    const auto lines = static_cast<double>(num_lines(chart, category));
    return lines * kBar + (lines - 1) * kBarGap;
}

void draw_group(Drawing& drawing, const BarChart& chart, std::size_t category, const Scale& scale,
                double left, double y)
{
    const auto& name = chart.categories[category];
    drawing.text(left - 8, y + group_height(chart, category) / 2 + kBaseline, name, {.anchor = Anchor::end});
    bool is_empty = true;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const auto& mark = chart.series[i].marks[category];
        if (!mark)
            continue;
        const double end = scale.place(mark->value);
        const auto sentence = fmt::format("{}, {}: {}.", name, chart.series[i].name, mark->text);
        drawing.rectangle(left, y, end - left, kBar, colour_of(i), sentence);
        drawing.rectangle(end + 1, y, text_width(mark->text, kText) + 10, kBar, "#ffffff");  // over the grid
        drawing.text(end + 6, y + kBar / 2 + kBaseline, mark->text);
        drawing.describe(sentence);
        y += kBar + kBarGap;
        is_empty = false;
    }
    if (!is_empty)
        return;
    const auto& note = chart.notes[category];
    drawing.rectangle(left + 1, y, text_width(note, kText) + 10, kBar, "#ffffff");
    drawing.text(left + 6, y + kBar / 2 + kBaseline, note, {.colour = kQuiet});
    drawing.describe(fmt::format("{}: {}.", name, note));
}

/// Where a panel's inside is.
struct Frame {
    double left, top, right, bottom;
};

void draw_panel(Drawing& drawing, const LineChart& chart, const LinePanel& panel, const Scale& scale,
                const Frame& frame)
{
    drawing.text((frame.left + frame.right) / 2, frame.top - 10, panel.title,
                 {.anchor = Anchor::middle, .is_bold = true});
    for (const double tick : scale.ticks()) {
        const double y = scale.place(tick);
        drawing.line(frame.left, y, frame.right, y, kGrid);
        drawing.text(frame.left - 6, y + kBaseline, tick_text(tick), {.anchor = Anchor::end});
    }
    // Equal factors of size are equal distances.
    const double range = std::log(chart.sizes.back() / chart.sizes.front());
    const auto place = [&](std::size_t i) {
        const double share = range > 0 ? std::log(chart.sizes[i] / chart.sizes.front()) / range : 0.5;
        return frame.left + kMargin + share * (frame.right - frame.left - 2 * kMargin);
    };
    double free_from = frame.left - kMargin;
    for (std::size_t i = 0; i < chart.sizes.size(); ++i) {
        drawing.line(place(i), frame.bottom, place(i), frame.bottom + 5, kAxis);
        const double half = text_width(chart.size_texts[i], kText) / 2;
        if (place(i) - half < free_from)
            continue;
        drawing.text(place(i), frame.bottom + kLine, chart.size_texts[i], {.anchor = Anchor::middle});
        free_from = place(i) + half + 4;
    }
    drawing.line(frame.left, frame.top, frame.left, frame.bottom, kAxis);
    drawing.line(frame.left, frame.bottom, frame.right, frame.bottom, kAxis);
    for (std::size_t k = 0; k < panel.lines.size(); ++k) {
        std::vector<double> points;
        for (std::size_t i = 0; i < chart.sizes.size(); ++i)
            if (const auto& mark = panel.lines[k].marks[i])
                points.insert(points.end(), {place(i), scale.place(mark->value)});
        drawing.polyline(points, colour_of(k), is_dashed(k));
        for (std::size_t i = 0; i < chart.sizes.size(); ++i)
            if (const auto& mark = panel.lines[k].marks[i]) {
                const auto sentence = fmt::format("{}, {}, {}: {}.", panel.title, panel.lines[k].name,
                                                  chart.size_texts[i], mark->text);
                drawing.marker(place(i), scale.place(mark->value), shape_of(k), colour_of(k), sentence);
                drawing.describe(sentence);
            }
    }
}

}  // namespace

Drawing draw(const BarChart& chart)
{
    Drawing drawing(kWidth, chart.title);
    drawing.describe(chart.subtitle + ".");
    double y = draw_heading(drawing, chart.title, chart.subtitle);
    y = draw_legend(drawing, y, chart.series, [&](double x, double middle, std::size_t i) {
        drawing.rectangle(x, middle - kBaseline - 2, kSample - 8, 12, colour_of(i));
    });

    Range range;
    for (const auto& series : chart.series)
        range.take(series);
    const double left = kMargin + widest(chart.categories) + 8;
    const double right = kWidth - kMargin - 6 - widest(mark_texts(chart.series));
    const Scale scale(range.least, range.greatest, left, right);
    const double top = y + 4;
    double bottom = top + kGroupGap;
    for (std::size_t i = 0; i < chart.categories.size(); ++i)
        bottom += group_height(chart, i) + kGroupGap;

    double free_from = 0;
    for (const double tick : scale.ticks()) {
        const double x = scale.place(tick);
        const double half = text_width(tick_text(tick), kText) / 2;
        drawing.line(x, top, x, bottom, kGrid);
        if (x - half < free_from)
            continue;
        drawing.text(x, bottom + kLine, tick_text(tick), {.anchor = Anchor::middle});
        free_from = x + half + 6;
    }
    drawing.line(left, top, left, bottom, kAxis);
    drawing.text((left + right) / 2, bottom + 2 * kLine, axis_text(chart.axis, scale),
                 {.anchor = Anchor::middle, .colour = kQuiet});
    y = top + kGroupGap;
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
        draw_group(drawing, chart, i, scale, left, y);
        y += group_height(chart, i) + kGroupGap;
    }
    drawing.set_height(bottom + 2 * kLine + kMargin);
    return drawing;
}

Drawing draw(const LineChart& chart)
{
    Drawing drawing(kWidth, chart.title);
    drawing.describe(chart.subtitle + ".");
    double y = draw_heading(drawing, chart.title, chart.subtitle);
    y = draw_legend(drawing, y, chart.panels.front().lines, [&](double x, double middle, std::size_t i) {
        drawing.polyline(std::array{x, middle, x + kSample - 8, middle}, colour_of(i), is_dashed(i));
        drawing.marker(x + (kSample - 8) / 2, middle, shape_of(i), colour_of(i));
    });

    Range range;
    for (const auto& panel : chart.panels)
        for (const auto& line : panel.lines)
            range.take(line);
    const double top = y + 2 * kLine;
    const double bottom = top + kPanelHeight;
    const Scale scale(range.least, range.greatest, bottom, top);
    std::vector<std::string> ticks;
    for (const double tick : scale.ticks())
        ticks.push_back(tick_text(tick));
    const double labels = widest(ticks) + 8;
    const auto count = static_cast<double>(chart.panels.size());
    const double width = (kWidth - 2 * kMargin - (count - 1) * kPanelGap) / count;
    drawing.text(kMargin, y + 4, axis_text(chart.axis, scale), {.colour = kQuiet});
    for (std::size_t i = 0; i < chart.panels.size(); ++i) {
        const double left = kMargin + static_cast<double>(i) * (width + kPanelGap);
        const Frame frame{left + labels, top, left + width, bottom};
        draw_panel(drawing, chart, chart.panels[i], scale, frame);
        drawing.text((frame.left + frame.right) / 2, bottom + 2 * kLine, chart.size_axis,
                     {.anchor = Anchor::middle, .colour = kQuiet});
    }
    drawing.set_height(bottom + 2 * kLine + kMargin);
    return drawing;
}

}  // namespace segfold::cli
