#include "runtime/measure/charts/chart.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "dsl/embedded_file.h"

namespace segfold {
std::span<const EmbeddedFile> chart_templates();
}  // namespace segfold

namespace segfold::charts {
namespace {

constexpr double kMostForLinear = 20;  ///< axes are linear up to this ratio of largest to smallest value
constexpr double kRoom = 1.25;         ///< a logarithmic axis begins below the smallest value divided by this
constexpr int kMostTicks = 12, kLinearTicks = 6;
constexpr double kLetter = 6.8;  ///< upper estimate of a letter's width, in pixels
constexpr double kGap = 10;      ///< pixels between a bar and its text
/// Widths, in pixels, of charts that share a specification. Such charts cannot adapt to the width of the
/// page.
constexpr int kChartWidth = 720, kPanelWidth = 420;

Json template_of(std::string_view path)
{
    const auto files = chart_templates();
    return Json::parse(std::ranges::find(files, path, &EmbeddedFile::path)->text);
}

/// Returns the round number (1, 2 or 5 times a power of ten) with this index. Index 0 is 1, index 3 is 10.
double round_number(int index)
{
    constexpr double kSteps[] = {1, 2, 5};
    const int decade = static_cast<int>(std::floor(index / 3.0));
    return decade < 0 ? kSteps[index - 3 * decade] / std::pow(10, -decade)
                      : kSteps[index - 3 * decade] * std::pow(10, decade);
}

/// Returns the index of the first round number that is at least `value`.
int round_index(double value)
{
    int index = 3 * static_cast<int>(std::floor(std::log10(value)));
    while (round_number(index) < value)
        ++index;
    return index;
}

/// Configures an axis for the values from `least` to `greatest`. Returns the value at which the axis begins.
double set_axis(Json& channel, const std::string& title, double least, double greatest)
{
    auto& scale = channel["scale"];
    if (greatest <= kMostForLinear * least) {
        scale.update({{"domain", {0, greatest}}, {"nice", true}});
        channel["axis"]["tickCount"] = kLinearTicks;
        channel["title"] = title;
        return 0;
    }
    const int first = round_index(least / kRoom) - 1, last = round_index(greatest);
    auto ticks = Json::array();
    for (int i = first; i <= last; ++i)
        // If the axis has many round numbers, only powers of ten get ticks.
        if (last - first <= kMostTicks || i % 3 == 0)
            ticks.push_back(round_number(i));
    scale.update({{"type", "log"}, {"domain", {round_number(first), round_number(last)}}, {"nice", false}});
    channel["axis"]["values"] = std::move(ticks);
    channel["title"] = title + ", logarithmic scale";
    return round_number(first);
}

void set_title(Json& spec, const std::string& title, const std::string& subtitle)
{
    spec["title"] = {{"text", title}};
    if (!subtitle.empty())
        spec["title"]["subtitle"] = subtitle;
    spec["description"] = subtitle.empty() ? title : title + ": " + subtitle;
}

/// Leaves room, in pixels, for the texts beside bars. Without `width`, the chart's width is known only when
/// it is drawn.
void set_room(Json& spec, double room, std::optional<int> width)
{
    auto& end = spec["layer"][0]["encoding"]["x"]["scale"]["range"][1];
    if (width) {
        end = *width - room;
        spec["layer"].back()["mark"]["limit"] = *width;
    } else {
        end = {{"expr", "max(width - " + Json(room).dump() + ", width / 3)"}};
    }
}

/// Gives a chart a fixed width, and removes members that only a top-level specification may have.
Json part_of(Json chart, int width)
{
    if (chart.contains("usermeta"))
        set_room(chart, chart["usermeta"]["room"], width);
    for (const auto* member : {"$schema", "config", "usermeta"})
        chart.erase(member);
    if (chart.contains("width"))
        chart["width"] = width;
    return chart;
}

/// Joins charts into one specification. `how` is "vconcat" (below each other) or "hconcat" (side by side).
Json joined(const char* how, std::vector<Json> charts, int width)
{
    Json whole = {{"$schema", charts.front()["$schema"]}};
    for (auto& chart : charts)
        whole[how].push_back(part_of(std::move(chart), width));
    whole["config"] = template_of("config.json");
    return whole;
}

}  // namespace

Extent extent_of(const BarChart& chart)
{
    Extent extent{HUGE_VAL, 0, 0};
    for (const auto& series : chart.series)
        for (const auto& mark : series.marks)
            if (mark)
                extent = {std::min(extent.least, mark->value), std::max(extent.greatest, mark->value),
                          std::max(extent.letters, mark->text.size())};
    return extent;
}

Json vega_lite(const BarChart& chart)
{
    auto spec = template_of("bars.json");
    set_title(spec, chart.title, chart.subtitle);
    auto values = Json::array();
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        const auto head = values.size();
        values.push_back({{"line", head}, {"row", chart.rows[i]}, {"text", chart.rows[i]}});
        for (const auto& series : chart.series)
            if (const auto& mark = series.marks[i])
                values.push_back({{"line", values.size()},
                                  {"row", chart.rows[i]},
                                  {"source", series.name},
                                  {"value", mark->value},
                                  {"shown", mark->text},
                                  {"text", mark->text + mark->more}});
        if (values.size() == head + 1 && i < chart.notes.size())
            values[head]["text"] = chart.rows[i] + ": " + chart.notes[i];
    }
    spec["data"]["values"] = std::move(values);
    const auto extent = chart.extent.value_or(extent_of(chart));
    const double room = std::ceil(static_cast<double>(extent.letters) * kLetter + kGap);
    spec["usermeta"]["room"] = room;
    set_room(spec, room, std::nullopt);
    auto& bars = spec["layer"][0]["encoding"];
    bars["x2"]["datum"] = set_axis(bars["x"], chart.axis, extent.least, extent.greatest);
    auto& scale = bars["color"]["scale"];
    for (const auto& series : chart.series) {
        scale["domain"].push_back(series.name);
        scale["range"].push_back(series.colour);
    }
    spec["config"] = template_of("config.json");
    return spec;
}

Json vega_lite(const LineChart& chart)
{
    double least = HUGE_VAL, greatest = 0;
    for (const auto& panel : chart.panels)
        for (const auto& line : panel.lines)
            for (const auto& mark : line.marks)
                if (mark) {
                    least = std::min(least, mark->value);
                    greatest = std::max(greatest, mark->value);
                }
    std::string names;  // names of the sizes, as an object in Vega's expression language
    for (std::size_t i = 0; i < chart.sizes.size(); ++i)
        names += (i == 0 ? "" : ", ") + Json(Json(chart.sizes[i]).dump()).dump() + ": " +
                 Json(chart.size_texts[i]).dump();
    const bool is_alone = chart.panels.size() == 1;
    std::vector<Json> panels;
    for (const auto& panel : chart.panels) {
        auto spec = template_of("lines.json");
        set_title(spec, is_alone ? chart.title + ", " + panel.title : panel.title,
                  is_alone ? chart.subtitle : "");
        auto values = Json::array();
        auto& encoding = spec["encoding"];
        for (const auto& line : panel.lines) {
            for (const auto* channel : {"color", "shape", "strokeDash"})
                encoding[channel]["scale"]["domain"].push_back(line.name);
            for (std::size_t i = 0; i < chart.sizes.size(); ++i)
                if (const auto& mark = line.marks[i])
                    values.push_back({{"row", line.name},
                                      {"source", panel.title},
                                      {"size", chart.sizes[i]},
                                      {"at", chart.size_texts[i]},
                                      {"value", mark->value},
                                      {"text", mark->text + mark->more}});
        }
        spec["data"]["values"] = std::move(values);
        auto& x = encoding["x"];
        x["title"] = chart.size_axis;
        x["scale"]["domain"] = {chart.sizes.front(), chart.sizes.back()};
        x["axis"]["values"] = chart.sizes;
        x["axis"]["labelExpr"] = "({" + names + "})[datum.value]";
        set_axis(encoding["y"], chart.axis, least, greatest);
        spec["config"] = template_of("config.json");
        panels.push_back(std::move(spec));
    }
    if (is_alone)
        return std::move(panels.front());
    auto whole = joined("hconcat", std::move(panels), kPanelWidth);
    set_title(whole, chart.title, chart.subtitle);
    return whole;
}

Json vega_lite(std::vector<Json> charts)
{
    if (charts.size() == 1)
        return std::move(charts.front());
    auto whole = joined("vconcat", std::move(charts), kChartWidth);
    for (const auto* channel : {"color", "shape", "strokeDash"})
        whole["resolve"]["scale"][channel] = "independent";
    return whole;
}

}  // namespace segfold::charts
