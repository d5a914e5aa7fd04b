#include "runtime/papers/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <variant>

#include "dsl/error.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/papers/compare.h"

namespace segfold::papers {
namespace {

using charts::BarChart, charts::LineChart, charts::LinePanel, charts::Series;
using Chart = std::variant<BarChart, LineChart>;

constexpr std::size_t kFewestSizes = 3;  ///< fewer sizes are drawn as bars
/// Colours of published numbers, by device. The first of them, and the colours of measured numbers, are the
/// same in every chart.
constexpr std::array kPublished = {charts::kBlue, charts::kGreen, charts::kGrey};
constexpr auto kMeasured = charts::kOrange, kHostClock = charts::kAmber;

/// Returns the devices that the source names for `experiments`, in the source's order.
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

/// Joins the non-empty parts with commas.
std::string joined(std::initializer_list<std::string> parts)
{
    std::string text;
    for (const auto& part : parts)
        text += text.empty() || part.empty() ? part : ", " + part;
    return text;
}

/// Returns the first rung on the GPU, to which other rungs are compared. Returns null if the rungs do
/// different work, as in timers of different sizes or transfers in both directions.
const PaperRow* first_rung(const Experiment& experiment)
{
    const auto& rows = experiment.rows;
    if (experiment.kind == ExperimentKind::timer ||
        std::ranges::any_of(rows, [](const PaperRow& row) { return row.transfer.to_host; }))
        return nullptr;
    const auto found = std::ranges::find(rows, false, &PaperRow::is_host);
    return found == rows.end() ? nullptr : &*found;
}

/// Adds to the text of each mark its speed relative to the first rung. Takes the speed from the source, or
/// computes it from the marks' values. Returns true if any mark got a speed.
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

/// Returns the experiment's number of elements or threads as text; empty if each row has a number of its own.
std::string size_text(const Experiment& experiment)
{
    const bool is_own = std::ranges::all_of(experiment.rows,
                                            [](const PaperRow& row) { return row.num_elements.has_value(); });
    return is_own ? ""
                  : fmt::format("{} {}", bench::element_text(experiment.num_elements),
                                experiment.kind == ExperimentKind::probe ? "threads" : "elements");
}

/// Returns the rows of a chart: first the published rows that are not measured here, then the experiment's
/// rows.
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
    chart.rows = rows_of(paper, experiment, quantity);
    for (const auto& row : chart.rows) {
        const auto* gain = paper.find(experiment.figure, row, "cumulative_speed_up");
        chart.notes.push_back(
            fmt::format("no {}{}", quantity.metric, gain ? fmt::format(" published, {}x", gain->value) : ""));
    }
    bool has_gains = std::ranges::any_of(
        chart.notes, [](const std::string& note) { return note.find(" published, ") != std::string::npos; });
    const auto add = [&](std::string name, std::string_view colour, const Paper* source, auto mark_of) {
        Series series{std::move(name), {}, colour};
        for (const auto& row : chart.rows)
            series.marks.push_back(mark_of(row));
        if (std::ranges::none_of(series.marks, [](const auto& mark) { return mark.has_value(); }))
            return;
        has_gains |= add_gains(series, experiment, chart.rows, quantity, source);
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

/// Returns the chart of a contest. For each workload, it shows rates as shares of the read ceiling: the rate
/// of the plan that a run takes, as published and as measured, and the rate of the best peer.
std::optional<BarChart> contest_of(const Paper& paper, const Experiment& experiment,
                                   const MeasuredPaper* measured)
{
    BarChart chart;
    chart.title = experiment.title;
    chart.subtitle = joined({workload_text(experiment), size_text(experiment),
                             measured ? measured->machine.device + ", " + measured->machine.date : ""});
    chart.axis = "share of the memory's read rate";
    for (const auto& row : experiment.rows) {
        chart.rows.push_back(row.row);
        chart.notes.emplace_back("not measured");
    }
    const auto add = [&](std::string name, std::string_view colour, auto mark_of) {
        Series series{std::move(name), {}, colour};
        for (const auto& row : chart.rows)
            series.marks.push_back(mark_of(row));
        if (std::ranges::any_of(series.marks, [](const auto& mark) { return mark.has_value(); }))
            chart.series.push_back(std::move(series));
    };
    const auto mark = [](const bench::Entry* entry) -> std::optional<Mark> {
        if (!is_timed(entry) || !(entry->fraction > 0))
            return std::nullopt;
        return Mark{entry->fraction,
                    fmt::format("{:.2f}, {}", entry->fraction,
                                entry->configuration.substr(0, entry->configuration.find(' '))),
                    fmt::format(", {:.4g} ms", entry->milliseconds.median)};
    };
    const auto devices = devices_of(paper, {&experiment});
    for (std::size_t i = 0; i < devices.size(); ++i)
        add(published_on(devices[i]), kPublished[i % kPublished.size()], [&](const std::string& row) {
            return published_mark(paper, experiment, row, devices[i], {"share", "of ceiling"});
        });
    add("segfold", kMeasured,
        [&](const std::string& row) { return mark(find_entry(measured, experiment, row)); });
    add("best of CUB and Thrust", charts::kGrey,
        [&](const std::string& row) { return mark(find_peer(measured, experiment, row)); });
    return chart.series.empty() ? std::nullopt : std::optional(std::move(chart));
}

/// Returns the common beginning of the figures' names: "table 1" for "table 1, 65536" and "table 1, 131072".
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
        chart.sizes.push_back(experiment->num_elements);
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
    const auto devices = devices_of(paper, experiments);
    for (const auto& device : devices)
        add(published_on(device), [&](const Experiment& experiment, const std::string& row) {
            return published_mark(paper, experiment, row, device, quantity);
        });
    if (measured)
        add(measured_on(*measured), [&](const Experiment& experiment, const std::string& row) {
            return measured_mark(measured, experiment, row, quantity);
        });
    return chart.panels.empty() ? std::nullopt : std::optional(std::move(chart));
}

/// True if two experiments differ only in their size.
bool are_of_one_series(const Experiment& a, const Experiment& b)
{
    return a.title == b.title && a.op == b.op && a.type == b.type && print(a.layout) == print(b.layout) &&
           std::ranges::equal(a.rows, b.rows, {}, &PaperRow::row, &PaperRow::row);
}

/// Returns the experiments that differ from the first only in size, ordered by size. Returns only the first
/// if there are too few for a line.
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

/// Gives all bar charts with the same rows and quantity the same axis, so that lengths can be compared.
void share_axes(std::vector<Chart>& all)
{
    std::vector<BarChart*> bars;
    for (auto& chart : all)
        if (auto* one = std::get_if<BarChart>(&chart))
            bars.push_back(one);
    for (auto* one : bars) {
        auto extent = extent_of(*one);
        for (const auto* other : bars)
            if (one->axis == other->axis && one->rows == other->rows) {
                const auto [least, greatest, letters] = extent_of(*other);
                extent = {std::min(extent.least, least), std::max(extent.greatest, greatest),
                          std::max(extent.letters, letters)};
            }
        one->extent = extent;
    }
}

}  // namespace

std::vector<Json> charts_of(const Paper& paper, const Experiments& experiments, const MeasuredPaper* measured,
                            std::string_view asked_by)
{
    std::vector<Chart> all;
    auto rest = experiments;
    while (!rest.empty()) {
        const auto series = series_of(rest);
        const auto& first = *series.front();
        if (first.kind == ExperimentKind::contest) {
            if (auto chart = contest_of(paper, first, measured))
                all.emplace_back(std::move(*chart));
            rest.erase(rest.begin());
            continue;
        }
        for (const auto& quantity : quantities_of(paper, series, measured))
            if (series.size() > 1) {
                if (auto chart = lines_of(paper, series, quantity, measured))
                    all.emplace_back(std::move(*chart));
            } else if (auto chart = bars_of(paper, *series.front(), quantity, measured)) {
                all.emplace_back(std::move(*chart));
            }
        std::erase_if(rest, [&](const auto* one) { return std::ranges::find(series, one) != series.end(); });
    }
    if (all.empty())
        throw InputError(
            fmt::format("{}: there is nothing to draw: {} states no number for what was asked, and none "
                        "was measured; on a machine with a GPU this command measures",
                        asked_by, paper.name));
    share_axes(all);
    std::vector<Json> specifications;
    for (const auto& chart : all)
        specifications.push_back(std::visit([](const auto& one) { return charts::vega_lite(one); }, chart));
    return specifications;
}

}  // namespace segfold::papers
