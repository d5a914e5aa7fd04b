#include "runtime/cli/paper_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "dsl/error.h"
#include "runtime/bench/markdown.h"
#include "runtime/cli/chart.h"
#include "runtime/cli/paper_page.h"
#include "runtime/support/file.h"

namespace segfold::cli {
namespace {

using Experiments = std::vector<const Experiment*>;

constexpr std::size_t kFewestSizes = 3;  ///< that make a line
constexpr double kSecondsInMillisecond = 1e-3;
constexpr double kMicrosecondsInMillisecond = 1e3;

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

/// The first quantity that the source states of these experiments, times before rates; nothing where it
/// states none.
std::optional<Quantity> published_quantity(const Paper& paper, const Experiments& experiments)
{
    for (const std::string_view metric : {"time", "bandwidth", ""})
        for (const auto* experiment : experiments)
            for (const auto& row : experiment->rows)
                for (const auto& value : paper.published)
                    if (value.figure == experiment->figure && value.row == row.row && value.value > 0 &&
                        !is_speed_up(value) && (metric.empty() || value.metric == metric))
                        return Quantity{value.metric, value.unit};
    return std::nullopt;
}

/// The unit in which times are neither all large nor all small numbers.
Quantity measured_time(const Experiments& experiments, const MeasuredPaper& measured)
{
    double least = HUGE_VAL;
    for (const auto* experiment : experiments)
        for (const auto& row : experiment->rows)
            if (const auto* entry = measured_entry(&measured, *experiment, row.row))
                least = std::min(least, entry->milliseconds.median);
    return {"time", least < 1 ? "us" : "ms"};
}

/// The row whose share a unit such as "of stride 1" means.
std::optional<std::string> whole_of(const Quantity& quantity)
{
    constexpr std::string_view kOf = "of ";
    return quantity.unit.starts_with(kOf) ? std::optional(quantity.unit.substr(kOf.size())) : std::nullopt;
}

/// Whether what is measured can be said in it.
bool is_measurable(const Quantity& quantity)
{
    return whole_of(quantity) || factor_of(quantity.metric, quantity.unit);
}

/// What the source states, and times where that leaves out what was measured; each has a chart of its own.
std::vector<Quantity> quantities_of(const Paper& paper, const Experiments& experiments,
                                    const MeasuredPaper* measured)
{
    std::vector<Quantity> quantities;
    if (const auto published = published_quantity(paper, experiments))
        quantities.push_back(*published);
    const bool has_measured = std::ranges::any_of(
        experiments, [&](const auto* experiment) { return any_measured(*experiment, measured); });
    if (has_measured && (quantities.empty() || !is_measurable(quantities.front())))
        quantities.push_back(measured_time(experiments, *measured));
    return quantities;
}

/// The number with four digits, or all before its point.
std::string number_text(double value)
{
    constexpr double kLong = 1e4;
    return value < kLong ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

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

std::string wrong_text(const bench::Entry& entry) { return entry.agreement.agrees ? "" : ", wrong results"; }

/// The rate of a row over that of the whole that the unit names, with the time itself behind it.
std::optional<Mark> share_mark(const bench::Entry& entry, const bench::Entry* whole, const Quantity& quantity)
{
    if (!whole || !(entry.bytes_per_second > 0) || !(whole->bytes_per_second > 0))
        return std::nullopt;
    const double share = entry.bytes_per_second / whole->bytes_per_second;
    return Mark{share, fmt::format("{:.2f} {}{}", share, quantity.unit, wrong_text(entry)),
                fmt::format(", {} us", number_text(entry.milliseconds.median * kMicrosecondsInMillisecond))};
}

std::optional<Mark> measured_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                  const std::string& row, const Quantity& quantity)
{
    const auto* entry = measured_entry(measured, experiment, row);
    if (!entry)
        return std::nullopt;
    if (const auto whole = whole_of(quantity))
        return share_mark(*entry, measured_entry(measured, experiment, *whole), quantity);
    const auto factor = factor_of(quantity.metric, quantity.unit);
    if (!factor)
        return std::nullopt;
    const double base = quantity.metric == "time" ? entry->milliseconds.median * kSecondsInMillisecond
                                                  : entry->bytes_per_second;
    if (!(base > 0))
        return std::nullopt;
    return Mark{base / *factor,
                fmt::format("{} {}{}", number_text(base / *factor), quantity.unit, wrong_text(*entry))};
}

/// The same by the host's clock, which experiments of transfers and timers read too.
std::optional<Mark> host_clock_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                    const std::string& row, const Quantity& quantity)
{
    const auto* entry = measured_entry(measured, experiment, row);
    const auto factor = factor_of(quantity.metric, quantity.unit);
    if (!entry || !factor || quantity.metric != "time" || !entry->wall_milliseconds ||
        !(entry->wall_milliseconds->median > 0))
        return std::nullopt;
    const double value = entry->wall_milliseconds->median * kSecondsInMillisecond / *factor;
    return Mark{value, fmt::format("{} {}", number_text(value), quantity.unit)};
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

/// The parts that are there, with commas between them.
std::string joined(std::initializer_list<std::string> parts)
{
    std::string text;
    for (const auto& part : parts)
        text += text.empty() || part.empty() ? part : ", " + part;
    return text;
}

/// The rung whose time the others are held against: the first one of ours. Nothing where rungs do not do the
/// same: those of a timer have sizes of their own, and transfers go both ways.
const PaperRow* first_rung(const Experiment& experiment)
{
    const auto& rows = experiment.rows;
    if (experiment.kind == ExperimentKind::timer ||
        std::ranges::any_of(rows, [](const PaperRow& row) { return row.transfer.to_host; }))
        return nullptr;
    const auto found = std::ranges::find(rows, false, &PaperRow::is_host);
    return found == rows.end() ? nullptr : &*found;
}

/// Adds to each mark how many times as fast it is as the first rung: as the source states it, or as it
/// follows. Returns whether any has got one.
bool add_gains(Series& series, const Experiment& experiment, const std::vector<std::string>& rows,
               const Quantity& quantity, const Paper* paper)
{
    const auto* rung = first_rung(experiment);
    const auto place = rung ? std::ranges::find(rows, rung->row) - rows.begin() : std::ssize(rows);
    if (place == std::ssize(rows))
        return false;
    const auto first = series.marks[static_cast<std::size_t>(place)];
    bool any = false;
    for (auto i = static_cast<std::size_t>(place) + 1; i < series.marks.size(); ++i) {
        auto& mark = series.marks[i];
        if (!mark)
            continue;
        const auto* stated = paper ? paper->find(experiment.figure, rows[i], "cumulative_speed_up") : nullptr;
        if (stated)
            mark->text += fmt::format(", {}x", stated->value);
        else if (first && quantity.metric == "time")
            mark->text += fmt::format(", {:.2f}x", first->value / mark->value);
        else if (first && quantity.metric == "bandwidth")
            mark->text += fmt::format(", {:.2f}x", mark->value / first->value);
        else
            continue;
        any = true;
    }
    return any;
}

std::string workload_text(const Experiment& experiment)
{
    return fmt::format("{}{}", experiment.op,
                       experiment.type ? fmt::format(" of {}", name(*experiment.type)) : "");
}

/// How much there is of what; nothing where each row has its own.
std::string size_text(const Experiment& experiment)
{
    const bool is_own = std::ranges::all_of(experiment.rows,
                                            [](const PaperRow& row) { return row.num_elements.has_value(); });
    return is_own ? ""
                  : fmt::format("{} {}", bench::element_text(experiment.num_elements),
                                experiment.kind == ExperimentKind::probe ? "threads" : "elements");
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

std::optional<BarChart> bars_of(const Paper& paper, const Experiment& experiment, const Quantity& quantity,
                                const MeasuredPaper* measured)
{
    BarChart chart;
    chart.title = fmt::format("{} {}, {}", paper.authors, paper.year, experiment.figure);
    chart.subtitle = joined({workload_text(experiment), size_text(experiment), experiment.title});
    chart.axis = fmt::format("{}, {}", quantity.metric, quantity.unit);
    chart.categories = rows_of(paper, experiment, quantity);
    for (const auto& row : chart.categories) {
        const auto* gain = paper.find(experiment.figure, row, "cumulative_speed_up");
        chart.notes.push_back(
            fmt::format("no {}{}", quantity.metric, gain ? fmt::format(" published, {}x", gain->value) : ""));
    }
    bool has_gains = std::ranges::any_of(
        chart.notes, [](const std::string& note) { return note.find(" published, ") != std::string::npos; });
    const auto add = [&](std::string name, const Paint& paint, const Paper* source, auto mark_of) {
        Series series{std::move(name), {}, paint};
        for (const auto& row : chart.categories)
            series.marks.push_back(mark_of(row));
        if (std::ranges::none_of(series.marks, [](const auto& mark) { return mark.has_value(); }))
            return;
        has_gains |= add_gains(series, experiment, chart.categories, quantity, source);
        chart.series.push_back(std::move(series));
    };
    const auto devices = devices_of(paper, {&experiment});
    for (std::size_t i = 0; i < devices.size(); ++i)
        add(published_on(devices[i]), kPublished[i % kPublished.size()], &paper, [&](const std::string& row) {
            return published_mark(paper, experiment, row, devices[i], quantity);
        });
    if (measured) {
        add(measured_on(*measured), kMeasured, nullptr,
            [&](const std::string& row) { return measured_mark(measured, experiment, row, quantity); });
        add(measured_on(*measured) + ", by the host's clock", kHostClock, nullptr,
            [&](const std::string& row) { return host_clock_mark(measured, experiment, row, quantity); });
    }
    if (has_gains)
        chart.subtitle += fmt::format("; x: times as fast as {}", first_rung(experiment)->row);
    return chart.series.empty() ? std::nullopt : std::optional(std::move(chart));
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

std::optional<LineChart> lines_of(const Paper& paper, const Experiments& experiments,
                                  const Quantity& quantity, const MeasuredPaper* measured)
{
    const auto& first = *experiments.front();
    LineChart chart;
    chart.title = fmt::format("{} {}, {}", paper.authors, paper.year, common_figure(experiments));
    chart.subtitle = joined({workload_text(first), first.title});
    chart.axis = fmt::format("{}, {}", quantity.metric, quantity.unit);
    chart.size_axis = "elements";
    for (const auto* experiment : experiments) {
        chart.sizes.push_back(static_cast<double>(experiment->num_elements));
        chart.size_texts.push_back(bench::element_text(experiment->num_elements));
    }
    const auto add = [&](std::string title, const Paint& paint, auto mark_of) {
        LinePanel panel{std::move(title), {}, paint};
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
    const auto devices = devices_of(paper, experiments);
    for (std::size_t i = 0; i < devices.size(); ++i)
        add(published_on(devices[i]), kPublished[i % kPublished.size()],
            [&](const Experiment& experiment, const std::string& row) {
                return published_mark(paper, experiment, row, devices[i], quantity);
            });
    if (measured)
        add(measured_on(*measured), kMeasured, [&](const Experiment& experiment, const std::string& row) {
            return measured_mark(measured, experiment, row, quantity);
        });
    return chart.panels.empty() ? std::nullopt : std::optional(std::move(chart));
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

/// Gives bars of the same rows and quantity the same axis, so that their lengths can be compared.
void share_axes(std::vector<Chart>& charts)
{
    std::vector<BarChart*> bars;
    for (auto& chart : charts)
        if (auto* one = std::get_if<BarChart>(&chart))
            bars.push_back(one);
    for (auto* one : bars) {
        auto extent = extent_of(*one);
        for (const auto* other : bars)
            if (one->axis == other->axis && one->categories == other->categories) {
                const auto [least, greatest, text_width] = extent_of(*other);
                extent = {std::min(extent.least, least), std::max(extent.greatest, greatest),
                          std::max(extent.text_width, text_width)};
            }
        one->extent = extent;
    }
}

std::vector<Chart> charts_of(const Paper& paper, const Experiments& experiments,
                             const MeasuredPaper* measured)
{
    std::vector<Chart> charts;
    auto rest = experiments;
    while (!rest.empty()) {
        const auto series = series_of(rest);
        for (const auto& quantity : quantities_of(paper, series, measured))
            if (series.size() > 1) {
                if (auto chart = lines_of(paper, series, quantity, measured))
                    charts.emplace_back(std::move(*chart));
            } else if (auto chart = bars_of(paper, *series.front(), quantity, measured)) {
                charts.emplace_back(std::move(*chart));
            }
        std::erase_if(rest, [&](const auto* one) { return std::ranges::find(series, one) != series.end(); });
    }
    share_axes(charts);
    return charts;
}

std::string heading_of(const Paper& paper)
{
    return fmt::format("{} ({}): {}", paper.authors, paper.year, paper.title);
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
    if (format == PlotFormat::html) {
        Page page{heading_of(paper), {paper.published_in, paper.claim}, charts};
        if (measured)
            page.paragraphs.push_back("Measured: " + bench::markdown_header(measured->machine));
        return html(page);
    }
    std::vector<Drawing> drawings;
    for (const auto& chart : charts)
        drawings.push_back(std::visit([](const auto& one) { return draw(one, kWideChart); }, chart));
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
