#include "runtime/cli/paper_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "dsl/error.h"
#include "runtime/bench/markdown.h"
#include "runtime/cli/chart.h"

namespace segfold::cli {
namespace {

using Chart = std::variant<BarChart, LineChart>;
using Experiments = std::vector<const Experiment*>;

constexpr std::size_t kFewestSizes = 3;  ///< that make a line
constexpr double kSecondsInMillisecond = 1e-3;

/// Units of one quantity, and how many of its base unit each is.
struct Unit {
    std::string_view metric, name;
    double factor;
};

constexpr std::array kUnits = {Unit{"time", "ns", 1e-9},       Unit{"time", "us", 1e-6},
                               Unit{"time", "ms", 1e-3},       Unit{"time", "s", 1},
                               Unit{"bandwidth", "MB/s", 1e6}, Unit{"bandwidth", "GB/s", 1e9},
                               Unit{"bandwidth", "TB/s", 1e12}};

/// How many base units a unit is; nothing where nobody knows.
std::optional<double> factor_of(std::string_view metric, std::string_view unit)
{
    for (const auto& known : kUnits)
        if (known.metric == metric && known.name == unit)
            return known.factor;
    return std::nullopt;
}

/// What a chart's values are.
struct Quantity {
    std::string metric, unit;
};

bool is_speed_up(const PublishedValue& value)
{
    return value.metric.find("speed_up") != std::string::npos || value.metric.starts_with("over_");
}

const bench::Entry* measured_entry(const MeasuredPaper* measured, const Experiment& experiment,
                                   const std::string& row)
{
    if (!measured)
        return nullptr;
    for (const auto& one : measured->experiments)
        if (one.figure == experiment.figure)
            for (const auto& entry : one.record.entries)
                if (entry.name == row && entry.outcome == bench::Outcome::measured &&
                    entry.milliseconds.median > 0)
                    return &entry;
    return nullptr;
}

bool any_measured(const Experiment& experiment, const MeasuredPaper* measured)
{
    return std::ranges::any_of(experiment.rows, [&](const PaperRow& row) {
        return measured_entry(measured, experiment, row.row) != nullptr;
    });
}

/// Times where there are any, else rates, else what the source states first; nothing where it states nothing
/// and nothing was measured.
std::optional<Quantity> quantity_of(const Paper& paper, const Experiments& experiments,
                                    const MeasuredPaper* measured)
{
    std::optional<Quantity> first;
    for (const std::string_view metric : {"time", "bandwidth", ""})
        for (const auto* experiment : experiments)
            for (const auto& row : experiment->rows)
                for (const auto& value : paper.published)
                    if (value.figure == experiment->figure && value.row == row.row && value.value > 0 &&
                        !is_speed_up(value) && (metric.empty() || value.metric == metric))
                        return Quantity{value.metric, value.unit};
    if (std::ranges::any_of(experiments,
                            [&](const auto* experiment) { return any_measured(*experiment, measured); }))
        return Quantity{"time", "us"};
    return std::nullopt;
}

/// The number with four digits at most, unless the source gave more of them.
std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::optional<Mark> published_mark(const Paper& paper, const Experiment& experiment, const std::string& row,
                                   const std::string& device, const Quantity& quantity)
{
    for (const auto& value : paper.published) {
        if (value.figure != experiment.figure || value.row != row || value.metric != quantity.metric ||
            value.device != device || !(value.value > 0))
            continue;
        if (value.unit == quantity.unit)
            return Mark{value.value, fmt::format("{} {}", value.value, value.unit)};
        const auto from = factor_of(value.metric, value.unit);
        const auto to = factor_of(quantity.metric, quantity.unit);
        if (!from || !to)
            continue;
        const double converted = value.value * *from / *to;
        return Mark{converted, fmt::format("{} {}", number_text(converted), quantity.unit)};
    }
    return std::nullopt;
}

std::optional<Mark> measured_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                  const std::string& row, const Quantity& quantity)
{
    const auto* entry = measured_entry(measured, experiment, row);
    const auto factor = factor_of(quantity.metric, quantity.unit);
    if (!entry || !factor)
        return std::nullopt;
    const double base = quantity.metric == "time" ? entry->milliseconds.median * kSecondsInMillisecond
                                                  : entry->bytes_per_second;
    if (!(base > 0))
        return std::nullopt;
    return Mark{base / *factor, fmt::format("{} {}{}", number_text(base / *factor), quantity.unit,
                                            entry->agreement.agrees ? "" : ", wrong results")};
}

/// The devices that the source names for these experiments, in its order.
std::vector<std::string> devices_of(const Paper& paper, const Experiments& experiments)
{
    std::vector<std::string> devices;
    for (const auto& value : paper.published) {
        const bool is_asked = std::ranges::any_of(
            experiments, [&](const auto* experiment) { return experiment->figure == value.figure; });
        if (is_asked && std::ranges::find(devices, value.device) == devices.end())
            devices.push_back(value.device);
    }
    return devices;
}

std::string published_on(const std::string& device) { return "published, " + device; }
std::string measured_on(const MeasuredPaper& measured) { return "measured, " + measured.machine.device; }

/// Adds to each mark how many times as fast it is as the first one: as the source states it, or as it
/// follows.
void add_gains(Series& series, const std::string& figure, const std::vector<std::string>& rows,
               const Quantity& quantity, const Paper* paper)
{
    const Mark* first = nullptr;
    for (std::size_t i = 0; i < series.marks.size(); ++i) {
        auto& mark = series.marks[i];
        if (!mark)
            continue;
        const auto* stated = paper ? paper->find(figure, rows[i], "cumulative_speed_up") : nullptr;
        if (!first)
            first = &*mark;
        else if (stated)
            mark->text += fmt::format(", {}x", stated->value);
        else if (quantity.metric == "time")
            mark->text += fmt::format(", {:.2f}x", first->value / mark->value);
        else if (quantity.metric == "bandwidth")
            mark->text += fmt::format(", {:.2f}x", mark->value / first->value);
    }
}

std::string workload_text(const Experiment& experiment)
{
    return fmt::format("{}{}", experiment.op,
                       experiment.type ? fmt::format(" of {}", name(*experiment.type)) : "");
}

/// What the source compares with, which is no rung of ours, before the rungs.
std::vector<std::string> rows_of(const Paper& paper, const Experiment& experiment, const Quantity& quantity)
{
    std::vector<std::string> rows;
    const auto has = [&](const std::string& row) {
        return std::ranges::find(rows, row) != rows.end() ||
               std::ranges::find(experiment.rows, row, &PaperRow::row) != experiment.rows.end();
    };
    for (const auto& value : paper.published)
        if (value.figure == experiment.figure && value.metric == quantity.metric && !has(value.row))
            rows.push_back(value.row);
    for (const auto& row : experiment.rows)
        rows.push_back(row.row);
    return rows;
}

std::optional<Chart> bars_of(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    const auto quantity = quantity_of(paper, {&experiment}, measured);
    if (!quantity)
        return std::nullopt;
    BarChart chart;
    chart.title = fmt::format("{} {}, {}", paper.authors, paper.year, experiment.figure);
    chart.subtitle =
        fmt::format("{}, {} elements, {}; x: times as fast as the first", workload_text(experiment),
                    bench::element_text(experiment.num_elements), experiment.title);
    chart.axis = fmt::format("{}, {}", quantity->metric, quantity->unit);
    chart.categories = rows_of(paper, experiment, *quantity);
    for (const auto& row : chart.categories) {
        const auto* gain = paper.find(experiment.figure, row, "cumulative_speed_up");
        chart.notes.push_back(fmt::format("no {}{}", quantity->metric,
                                          gain ? fmt::format(" published, {}x", gain->value) : ""));
    }
    const auto add = [&](std::string name, const Paper* source, auto mark_of) {
        Series series{std::move(name), {}};
        for (const auto& row : chart.categories)
            series.marks.push_back(mark_of(row));
        if (std::ranges::none_of(series.marks, [](const auto& mark) { return mark.has_value(); }))
            return;
        add_gains(series, experiment.figure, chart.categories, *quantity, source);
        chart.series.push_back(std::move(series));
    };
    for (const auto& device : devices_of(paper, {&experiment}))
        add(published_on(device), &paper, [&](const std::string& row) {
            return published_mark(paper, experiment, row, device, *quantity);
        });
    if (measured)
        add(measured_on(*measured), nullptr,
            [&](const std::string& row) { return measured_mark(measured, experiment, row, *quantity); });
    return chart.series.empty() ? std::nullopt : std::optional<Chart>(std::move(chart));
}

/// "table 1" of "table 1, 65536".
std::string common_figure(const Experiments& experiments)
{
    std::string text = experiments.front()->figure;
    for (const auto* experiment : experiments) {
        const auto& figure = experiment->figure;
        const auto end = std::ranges::mismatch(text, figure).in1;
        text.erase(end, text.end());
    }
    return text.substr(0, text.rfind(','));
}

std::optional<Chart> lines_of(const Paper& paper, const Experiments& experiments,
                              const MeasuredPaper* measured)
{
    const auto quantity = quantity_of(paper, experiments, measured);
    if (!quantity)
        return std::nullopt;
    const auto& first = *experiments.front();
    LineChart chart;
    chart.title = fmt::format("{} {}, {}", paper.authors, paper.year, common_figure(experiments));
    chart.subtitle = fmt::format("{}, {}", workload_text(first), first.title);
    chart.axis = fmt::format("{}, {}", quantity->metric, quantity->unit);
    chart.size_axis = "elements";
    for (const auto* experiment : experiments) {
        chart.sizes.push_back(static_cast<double>(experiment->num_elements));
        chart.size_texts.push_back(bench::element_text(experiment->num_elements));
    }
    const auto add = [&](std::string title, auto mark_of) {
        LinePanel panel{std::move(title), {}};
        bool is_empty = true;
        for (const auto& row : first.rows) {
            Series line{row.row, {}};
            for (const auto* experiment : experiments) {
                line.marks.push_back(mark_of(*experiment, row.row));
                is_empty = is_empty && !line.marks.back();
            }
            panel.lines.push_back(std::move(line));
        }
        if (!is_empty)
            chart.panels.push_back(std::move(panel));
    };
    for (const auto& device : devices_of(paper, experiments))
        add(published_on(device), [&](const Experiment& experiment, const std::string& row) {
            return published_mark(paper, experiment, row, device, *quantity);
        });
    if (measured)
        add(measured_on(*measured), [&](const Experiment& experiment, const std::string& row) {
            return measured_mark(measured, experiment, row, *quantity);
        });
    return chart.panels.empty() ? std::nullopt : std::optional<Chart>(std::move(chart));
}

/// Whether two experiments differ in nothing but their size.
bool are_of_one_series(const Experiment& a, const Experiment& b)
{
    return a.title == b.title && a.op == b.op && a.type == b.type && print(a.layout) == print(b.layout) &&
           std::ranges::equal(a.rows, b.rows, {}, &PaperRow::row, &PaperRow::row);
}

/// The experiments of a series, by size, where they are enough; else the first one alone.
Experiments series_of(const Experiments& rest)
{
    Experiments series;
    for (const auto* experiment : rest)
        if (are_of_one_series(*rest.front(), *experiment))
            series.push_back(experiment);
    std::ranges::sort(series, {}, &Experiment::num_elements);
    const auto twin = std::ranges::adjacent_find(series, {}, &Experiment::num_elements);
    if (series.size() < kFewestSizes || twin != series.end())
        return {rest.front()};
    return series;
}

std::vector<Chart> charts_of(const Paper& paper, const Experiments& experiments,
                             const MeasuredPaper* measured)
{
    std::vector<Chart> charts;
    auto rest = experiments;
    while (!rest.empty()) {
        const auto series = series_of(rest);
        if (auto chart = series.size() > 1 ? lines_of(paper, series, measured)
                                           : bars_of(paper, *series.front(), measured))
            charts.push_back(std::move(*chart));
        std::erase_if(rest, [&](const auto* one) { return std::ranges::find(series, one) != series.end(); });
    }
    return charts;
}

std::string heading_of(const Paper& paper)
{
    return fmt::format("{} ({}): {}", paper.authors, paper.year, paper.title);
}

std::string table_row(std::string_view cell, std::string_view first, const std::vector<std::string>& others)
{
    std::string text =
        fmt::format("<tr><th scope=\"{}\">{}</th>", cell == "th" ? "col" : "row", escaped(first));
    for (const auto& other : others)
        text += fmt::format("<{0}{1}>{2}</{0}>", cell, cell == "th" ? " scope=\"col\"" : "", escaped(other));
    return text + "</tr>\n";
}

std::string mark_text(const std::optional<Mark>& mark) { return mark ? mark->text : ""; }

std::string table_of(const BarChart& chart)
{
    std::vector<std::string> titles;
    for (const auto& series : chart.series)
        titles.push_back(series.name);
    auto text = "<table>\n" + table_row("th", "rung", titles);
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
        std::vector<std::string> cells;
        for (const auto& series : chart.series)
            cells.push_back(mark_text(series.marks[i]));
        text += table_row("td", chart.categories[i], cells);
    }
    return text + "</table>\n";
}

std::string table_of(const LineChart& chart)
{
    std::string text;
    for (const auto& panel : chart.panels) {
        text += fmt::format("<table>\n<caption>{}</caption>\n", escaped(panel.title)) +
                table_row("th", "rung", chart.size_texts);
        for (const auto& line : panel.lines) {
            std::vector<std::string> cells;
            std::ranges::transform(line.marks, std::back_inserter(cells), mark_text);
            text += table_row("td", line.name, cells);
        }
        text += "</table>\n";
    }
    return text;
}

constexpr std::string_view kStyle =
    "body { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #1a1a1a; background: #ffffff; "
    "max-width: 960px; margin: 2em auto; padding: 0 1em; line-height: 1.4; }\n"
    "figure { margin: 2em 0; }\nsvg { max-width: 100%; height: auto; }\n"
    "table { border-collapse: collapse; margin: 0.5em 0; font-size: 0.85em; }\n"
    "caption { text-align: left; padding: 0.2em 0; }\n"
    "th, td { border-bottom: 1px solid #dddddd; padding: 0.2em 0.8em 0.2em 0; text-align: right; }\n"
    "th:first-child { text-align: left; font-weight: normal; }\n";

std::string page(const Paper& paper, const std::vector<Chart>& charts, const MeasuredPaper* measured)
{
    auto text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{0}</title>\n"
        "<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{2}</p>\n<p>{3}</p>\n",
        escaped(heading_of(paper)), kStyle, escaped(paper.published_in), escaped(paper.claim));
    if (measured)
        text += fmt::format("<p>Measured: {}</p>\n", escaped(bench::markdown_header(measured->machine)));
    for (std::size_t i = 0; i < charts.size(); ++i)
        text += std::visit(
            [&](const auto& chart) {
                return fmt::format(
                    "<figure>\n{}<details>\n<summary>The numbers</summary>\n{}</details>\n</figure>\n",
                    draw(chart).element(fmt::format("chart-{}", i + 1)), table_of(chart));
            },
            charts[i]);
    return text + "</body>\n</html>\n";
}

}  // namespace

PlotFormat plot_format(const std::string& path)
{
    if (path.ends_with(".svg"))
        return PlotFormat::svg;
    if (path.ends_with(".html"))
        return PlotFormat::html;
    throw InputError(fmt::format("--plot: '{}' ends neither in .svg nor in .html", path));
}

std::string plot(const Paper& paper, const std::vector<const Experiment*>& experiments,
                 const MeasuredPaper* measured, PlotFormat format)
{
    const auto charts = charts_of(paper, experiments, measured);
    if (charts.empty())
        throw InputError(
            fmt::format("--plot: there is nothing to draw: {} states no number for what was asked, and none "
                        "was measured; on a machine with a GPU this command measures",
                        paper.name));
    if (format == PlotFormat::html)
        return page(paper, charts, measured);
    std::vector<Drawing> drawings;
    for (const auto& chart : charts)
        drawings.push_back(std::visit([](const auto& one) { return draw(one); }, chart));
    return svg_sheet(drawings, heading_of(paper));
}

void save_plot(const std::string& path, const Paper& paper, const std::vector<const Experiment*>& experiments,
               const MeasuredPaper* measured)
{
    const auto text = plot(paper, experiments, measured, plot_format(path));
    OutputFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace segfold::cli
