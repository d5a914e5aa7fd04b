#include "runtime/papers/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/papers/chart_scale.h"

namespace segfold::papers {
namespace {

constexpr std::array kShapes = {MarkerShape::circle, MarkerShape::square, MarkerShape::diamond,
                                MarkerShape::triangle};

constexpr double kMargin = 20;
constexpr double kNarrowMargin = 4;
constexpr double kBold = 1.1;  ///< width of bold letters, relative to normal ones
constexpr double kTitleSize = 16;
constexpr double kText = 12;
constexpr double kLine = 18;    ///< distance of text lines
constexpr double kSample = 26;  ///< width of a legend's sample, with its gap
constexpr double kBar = 16;     ///< height of a bar
constexpr double kBarGap = 2;   ///< gap between bars of a group
constexpr double kGroupGap = 10;
constexpr double kPanelHeight = 320;
constexpr double kNarrowPanelHeight = 220;
constexpr double kStripe = 4;  ///< height of the coloured stripe above a panel
constexpr double kPanelGap = 30;
constexpr double kBaseline = 4;  ///< distance from the middle of a text to its baseline

bool is_narrow(const Drawing& drawing) { return drawing.width() < 600; }
double margin_of(const Drawing& drawing) { return is_narrow(drawing) ? kNarrowMargin : kMargin; }

const Paint& line_paint(std::size_t index) { return kLines[index % kLines.size()]; }

/// Returns the shape of a line's markers. If two lines have the same colour, the second has another shape,
/// and is dashed.
MarkerShape shape_of(std::size_t index)
{
    return kShapes[(index % kLines.size() + 2 * (index / kLines.size())) % kShapes.size()];
}

bool is_dashed(std::size_t index) { return index >= kLines.size(); }

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

/// Draws title and subtitle, in several lines if needed. Returns the y of the next line of text.
double draw_heading(Drawing& drawing, const std::string& title, const std::string& subtitle)
{
    const double margin = margin_of(drawing);
    const double room = drawing.width() - 2 * margin;
    double y = margin;
    for (const auto& line : wrapped(title, kTitleSize * kBold, room)) {
        y += kTitleSize + 2;
        drawing.text(margin, y, line, {.size = kTitleSize, .is_bold = true});
    }
    for (const auto& line : wrapped(subtitle, kText, room)) {
        y += kLine;
        drawing.text(margin, y, line, {.paint = kQuiet});
    }
    return y + kLine + kGroupGap;
}

/// Draws samples with names, in several lines if needed. Returns the y of the next line of text.
template <class DrawSample>
double draw_legend(Drawing& drawing, double y, const std::vector<Series>& series, DrawSample draw_sample)
{
    const double margin = margin_of(drawing);
    double x = margin;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const double width = kSample + text_width(series[i].name, kText);
        if (x > margin && x + width > drawing.width() - margin) {
            x = margin;
            y += kLine;
        }
        draw_sample(x, y - kBaseline, i);
        drawing.text(x + kSample, y, series[i].name);
        x += width + kMargin;
    }
    return y + kLine;
}

std::string axis_text(const std::string& axis, const Scale& scale)
{
    return scale.is_logarithmic() ? axis + ", logarithmic scale" : axis;
}

std::string tick_text(double value) { return fmt::format("{:g}", value); }

/// Returns the width of the longest text.
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

/// Returns the number of lines that a category takes: one for each bar, or one for its note if it has no bar.
std::size_t num_lines(const BarChart& chart, std::size_t category)
{
    const auto count = std::ranges::count_if(
        chart.series, [&](const Series& series) { return series.marks[category].has_value(); });
    return std::max<std::size_t>(1, static_cast<std::size_t>(count));
}

double bars_height(const BarChart& chart, std::size_t category)
{
    const auto lines = static_cast<double>(num_lines(chart, category));
    return lines * kBar + (lines - 1) * kBarGap;
}

/// Draws a text on the background colour, so no grid line crosses it.
void draw_on_paper(Drawing& drawing, double x, double y, const std::string& text, const Paint& paint)
{
    drawing.rectangle(x - 5, y - kBar / 2 - kBaseline, text_width(text, kText) + 10, kBar, kPaper);
    drawing.text(x, y, text, {.paint = paint});
}

void draw_group(Drawing& drawing, const BarChart& chart, std::size_t category, const Scale& scale,
                double left, double y)
{
    const auto& name = chart.categories[category];
    if (is_narrow(drawing)) {
        draw_on_paper(drawing, left + 5, y + kBar / 2 + kBaseline, name, kInk);
        y += kLine;
    } else {
        drawing.text(left - 8, y + bars_height(chart, category) / 2 + kBaseline, name,
                     {.anchor = Anchor::end});
    }
    bool is_empty = true;
    for (const auto& series : chart.series) {
        const auto& mark = series.marks[category];
        if (!mark)
            continue;
        const double end = scale.place(mark->value);
        const auto sentence = fmt::format("{}, {}: {}{}.", name, series.name, mark->text, mark->more);
        drawing.rectangle(left, y, end - left, kBar, series.paint, sentence);
        draw_on_paper(drawing, end + 6, y + kBar / 2 + kBaseline, mark->text, kInk);
        drawing.describe(sentence);
        y += kBar + kBarGap;
        is_empty = false;
    }
    if (!is_empty)
        return;
    const auto& note = chart.notes[category];
    draw_on_paper(drawing, left + 6, y + kBar / 2 + kBaseline, note, kQuiet);
    drawing.describe(fmt::format("{}: {}.", name, note));
}

/// The inner area of a panel.
struct Frame {
    double left, top, right, bottom;
};

void draw_panel(Drawing& drawing, const LineChart& chart, const LinePanel& panel, const Scale& scale,
                const Frame& frame)
{
    drawing.text((frame.left + frame.right) / 2, frame.top - 10, panel.title,
                 {.anchor = Anchor::middle, .is_bold = true});
    drawing.rectangle(frame.left, frame.top - kStripe, frame.right - frame.left, kStripe - 1, panel.paint);
    for (const double tick : scale.ticks()) {
        const double y = scale.place(tick);
        drawing.line(frame.left, y, frame.right, y, kGrid);
        drawing.text(frame.left - 6, y + kBaseline, tick_text(tick), {.anchor = Anchor::end});
    }
    // The size axis is logarithmic: equal ratios of sizes have equal distances.
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
        drawing.polyline(points, line_paint(k), is_dashed(k));
        for (std::size_t i = 0; i < chart.sizes.size(); ++i)
            if (const auto& mark = panel.lines[k].marks[i]) {
                const auto sentence = fmt::format("{}, {}, {}: {}.", panel.title, panel.lines[k].name,
                                                  chart.size_texts[i], mark->text);
                drawing.marker(place(i), scale.place(mark->value), shape_of(k), line_paint(k), sentence);
                drawing.describe(sentence);
            }
    }
}

}  // namespace

Extent extent_of(const BarChart& chart)
{
    Range range;
    for (const auto& series : chart.series)
        range.take(series);
    return {range.least, range.greatest, widest(mark_texts(chart.series))};
}

Drawing draw(const BarChart& chart, double width)
{
    Drawing drawing(width, chart.title);
    drawing.describe(chart.subtitle + ".");
    double y = draw_heading(drawing, chart.title, chart.subtitle);
    y = draw_legend(drawing, y, chart.series, [&](double x, double middle, std::size_t i) {
        drawing.rectangle(x, middle - kBaseline - 2, kSample - 8, 12, chart.series[i].paint);
    });

    const auto extent = chart.extent.value_or(extent_of(chart));
    const double margin = margin_of(drawing);
    const double left = is_narrow(drawing) ? margin + kNarrowMargin : margin + widest(chart.categories) + 8;
    const double right = width - margin - 6 - extent.text_width;
    const double name_height = is_narrow(drawing) ? kLine : 0;
    const Scale scale(extent.least, extent.greatest, left, right);
    const double top = y + 4;
    double bottom = top + kGroupGap;
    for (std::size_t i = 0; i < chart.categories.size(); ++i)
        bottom += name_height + bars_height(chart, i) + kGroupGap;

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
    const auto axis = axis_text(chart.axis, scale);
    drawing.text(std::max((left + right) / 2, margin + text_width(axis, kText) / 2), bottom + 2 * kLine, axis,
                 {.anchor = Anchor::middle, .paint = kQuiet});
    y = top + kGroupGap;
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
        draw_group(drawing, chart, i, scale, left, y);
        y += name_height + bars_height(chart, i) + kGroupGap;
    }
    drawing.set_height(bottom + 2 * kLine + kMargin);
    return drawing;
}

Drawing draw(const LineChart& chart, double width)
{
    Drawing drawing(width, chart.title);
    drawing.describe(chart.subtitle + ".");
    double y = draw_heading(drawing, chart.title, chart.subtitle);
    y = draw_legend(drawing, y, chart.panels.front().lines, [&](double x, double middle, std::size_t i) {
        drawing.polyline(std::array{x, middle, x + kSample - 8, middle}, line_paint(i), is_dashed(i));
        drawing.marker(x + (kSample - 8) / 2, middle, shape_of(i), line_paint(i));
    });

    Range range;
    for (const auto& panel : chart.panels)
        for (const auto& line : panel.lines)
            range.take(line);
    const bool is_stacked = is_narrow(drawing);
    const double margin = margin_of(drawing);
    const double height = is_stacked ? kNarrowPanelHeight : kPanelHeight;
    const auto count = static_cast<double>(chart.panels.size());
    const double panel_width =
        is_stacked ? width - 2 * margin : (width - 2 * margin - (count - 1) * kPanelGap) / count;
    double top = y + 2 * kLine, bottom = 0;
    for (std::size_t i = 0; i < chart.panels.size(); ++i) {
        bottom = top + height;
        const Scale scale(range.least, range.greatest, bottom, top);
        std::vector<std::string> ticks;
        for (const double tick : scale.ticks())
            ticks.push_back(tick_text(tick));
        if (i == 0)
            drawing.text(margin, y + 4, axis_text(chart.axis, scale), {.paint = kQuiet});
        const double left = margin + (is_stacked ? 0 : static_cast<double>(i) * (panel_width + kPanelGap));
        const Frame frame{left + widest(ticks) + 8, top, left + panel_width, bottom};
        draw_panel(drawing, chart, chart.panels[i], scale, frame);
        drawing.text((frame.left + frame.right) / 2, bottom + 2 * kLine, chart.size_axis,
                     {.anchor = Anchor::middle, .paint = kQuiet});
        if (is_stacked)
            top = bottom + 4 * kLine;
    }
    drawing.set_height(bottom + 2 * kLine + kMargin);
    return drawing;
}

}  // namespace segfold::papers
