#include "runtime/cli/paper_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/bench/markdown.h"
#include "runtime/cli/bench_view.h"
#include "runtime/cli/table.h"

namespace segfold::cli {
namespace {

constexpr double kGigabyte = 1e9;
constexpr double kMicroseconds = 1e3;  ///< in a millisecond
constexpr double kNoise = 0.03;        ///< a step within this of 1 went neither way

std::string times_text(double factor) { return fmt::format("{:.2f}", factor); }

/// A number with the digits that the source gave it, as far as a double keeps them.
std::string published_text(const PublishedValue* value)
{
    return value ? fmt::format("{}", value->value) : "";
}

std::string published_time(const PublishedValue* value)
{
    return value ? fmt::format("{} {}", value->value, value->unit) : "";
}

const bench::Entry* find_entry(const MeasuredPaper* measured, const Experiment& experiment,
                               const std::string& row)
{
    if (!measured)
        return nullptr;
    const auto of_figure =
        std::ranges::find(measured->experiments, experiment.figure, &MeasuredExperiment::figure);
    if (of_figure == measured->experiments.end())
        return nullptr;
    const auto& entries = of_figure->record.entries;
    const auto entry = std::ranges::find(entries, row, &bench::Entry::name);
    return entry == entries.end() ? nullptr : &*entry;
}

bool is_timed(const bench::Entry* entry)
{
    return entry && entry->outcome == bench::Outcome::measured && entry->milliseconds.median > 0;
}

/// Time of `before` over that of `entry`; nothing where one is missing.
std::optional<double> gain(const bench::Entry* before, const bench::Entry* entry)
{
    if (!is_timed(before) || !is_timed(entry))
        return std::nullopt;
    return before->milliseconds.median / entry->milliseconds.median;
}

/// The step that a source states, or that follows from the times it states.
std::optional<double> published_step(const Paper& paper, const std::string& figure, const std::string& before,
                                     const std::string& row)
{
    if (const auto* step = paper.find(figure, row, "step_speed_up"))
        return step->value;
    const auto* first = paper.find(figure, before, "time");
    const auto* second = paper.find(figure, row, "time");
    if (!first || !second || first->unit != second->unit || first->device != second->device)
        return std::nullopt;
    return first->value / second->value;
}

std::string stage_text(const PaperRow& row)
{
    std::string text = row.stage;
    for (const auto& [name, value] : row.chosen)
        text += fmt::format(" {}={}", name, value);
    return text;
}

std::vector<std::string> measured_cells(const bench::Entry* entry, const bench::Entry* before,
                                        const bench::Entry* first)
{
    if (!entry)
        return std::vector<std::string>(6);
    if (!is_timed(entry))
        return {std::string(bench::name(entry->outcome)), "", "", "", "", ""};
    const auto step = gain(before, entry);
    const auto total = entry == first ? std::nullopt : gain(first, entry);
    return {fmt::format("{:.1f} us", entry->milliseconds.median * kMicroseconds),
            fmt::format("{:.1f} - {:.1f}", entry->milliseconds.low * kMicroseconds,
                        entry->milliseconds.high * kMicroseconds),
            fmt::format("{:.0f}", entry->bytes_per_second / kGigabyte),
            fmt::format("{:.3f}", entry->fraction),
            step ? times_text(*step) : "",
            total ? times_text(*total) : ""};
}

/// Steps that were forward when they were published and are not now, or the other way round.
std::string reversals(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    std::string text;
    for (std::size_t i = 1; i < experiment.rows.size(); ++i) {
        const auto& before = experiment.rows[i - 1].row;
        const auto& row = experiment.rows[i].row;
        const auto then = published_step(paper, experiment.figure, before, row);
        const auto now =
            gain(find_entry(measured, experiment, before), find_entry(measured, experiment, row));
        if (then && now && (*then > 1) != (*now > 1) && std::abs(*now - 1) > kNoise)
            text += fmt::format("{} is {:.2f} times as fast as {} here; {:.2f} times when it was published\n",
                                row, *now, before, *then);
    }
    return text.empty() ? text : "\n" + text;
}

/// Rungs that failed or gave wrong results, and why.
std::string troubles(const Experiment& experiment, const MeasuredPaper* measured)
{
    std::string text;
    for (const auto& row : experiment.rows)
        if (const auto* entry = find_entry(measured, experiment, row.row)) {
            if (!entry->reason.empty())
                text += fmt::format("{}: {}\n", row.row, entry->reason);
            if (!entry->agreement.agrees)
                text += fmt::format("{}: wrong results: {}\n", row.row, entry->agreement.text);
        }
    return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string print_heading(const Paper& paper, const MeasuredPaper* measured)
{
    std::vector<std::string> devices;
    for (const auto& value : paper.published)
        if (std::ranges::find(devices, value.device) == devices.end())
            devices.push_back(value.device);
    const auto published =
        devices.empty() ? "no numbers, figures only" : fmt::format("{}", fmt::join(devices, ", "));
    return fmt::format(
        "{} ({}): {}\n{}\n\n{}\n\n{}", paper.authors, paper.year, paper.title, paper.published_in,
        paper.claim,
        print_facts(
            {{"published", published},
             {"measured", measured ? fmt::format("{}, {}", measured->machine.device, measured->machine.date)
                                   : "nowhere yet; on a machine with a GPU this command "
                                     "measures it"}}));
}

std::string print_experiment(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum Table::Align;
    Table table({{"rung"},
                 {"stage"},
                 {"then", right},
                 {"GB/s", right},
                 {"step", right},
                 {"total", right},
                 {"now", right},
                 {"quartiles", right},
                 {"GB/s", right},
                 {"of ceiling", right},
                 {"step", right},
                 {"total", right}});
    const bench::Entry* first = nullptr;
    const bench::Entry* before = nullptr;
    for (const auto& row : experiment.rows) {
        const auto published = [&](std::string_view metric) {
            return paper.find(experiment.figure, row.row, metric);
        };
        const auto* entry = find_entry(measured, experiment, row.row);
        if (!first)
            first = entry;
        std::vector<std::string> cells = {row.row,
                                          stage_text(row),
                                          published_time(published("time")),
                                          published_text(published("bandwidth")),
                                          published_text(published("step_speed_up")),
                                          published_text(published("cumulative_speed_up"))};
        const auto now = measured_cells(entry, before, first);
        cells.insert(cells.end(), now.begin(), now.end());
        table.add(std::move(cells));
        before = entry;
    }
    return fmt::format("{}: {}{}, {} elements, {}\n\n{}{}{}", experiment.figure, experiment.op,
                       experiment.type ? fmt::format(" of {}", name(*experiment.type)) : "",
                       bench::element_text(experiment.num_elements), experiment.title, table.print(),
                       reversals(paper, experiment, measured), troubles(experiment, measured));
}

}  // namespace segfold::cli
