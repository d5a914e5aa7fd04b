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
    std::string text = row.is_host ? "one thread of the CPU" : row.stage;
    for (const auto& [name, value] : row.chosen)
        text += fmt::format(" {}={}", name, value);
    return text;
}

/// What the columns of a ladder compare a rung with.
struct Beside {
    const bench::Entry* before = nullptr;  ///< the rung above
    const bench::Entry* first = nullptr;
    const bench::Entry* host = nullptr;  ///< the CPU
};

std::string gain_text(std::optional<double> gain) { return gain ? times_text(*gain) : ""; }

std::string microseconds_text(double milliseconds)
{
    return fmt::format("{:.1f} us", milliseconds * kMicroseconds);
}

std::string range_text(const bench::Quartiles& milliseconds)
{
    return fmt::format("{:.1f} - {:.1f}", milliseconds.low * kMicroseconds,
                       milliseconds.high * kMicroseconds);
}

std::string rate_text(const bench::Entry& entry)
{
    return fmt::format("{:.{}f}", entry.bytes_per_second / kGigabyte,
                       entry.bytes_per_second < 10 * kGigabyte ? 2 : 0);
}

/// now, quartiles, GB/s, of ceiling, step, total, over CPU, start
std::vector<std::string> measured_cells(const bench::Entry* entry, const Beside& beside)
{
    if (!entry)
        return std::vector<std::string>(8);
    if (!is_timed(entry))
        return {std::string(bench::name(entry->outcome)), "", "", "", "", "", "", ""};
    return {microseconds_text(entry->milliseconds.median),
            range_text(entry->milliseconds),
            rate_text(*entry),
            entry->is_host ? "" : fmt::format("{:.3f}", entry->fraction),
            entry->is_host ? "" : gain_text(gain(beside.before, entry)),
            entry->is_host || entry == beside.first ? "" : gain_text(gain(beside.first, entry)),
            gain_text(gain(beside.host, entry)),
            entry->host_microseconds ? fmt::format("{:.1f} us", *entry->host_microseconds) : ""};
}

/// Steps that were forward when they were published and are not now, or the other way round.
std::string reversals(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    std::string text;
    for (std::size_t i = 1; i < experiment.rows.size(); ++i) {
        if (experiment.rows[i - 1].is_host || experiment.rows[i].is_host)
            continue;
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
        devices.empty() ? "no numbers" : fmt::format("{}", fmt::join(devices, ", "));
    return fmt::format(
        "{} ({}): {}\n{}\n\n{}\n\n{}", paper.authors, paper.year, paper.title, paper.published_in,
        paper.claim,
        print_facts(
            {{"published", published},
             {"measured",
              measured ? fmt::format("{}, {}{}", measured->machine.device,
                                     measured->machine.host.empty() ? "" : measured->machine.host + ", ",
                                     measured->machine.date)
                       : "nowhere yet; on a machine with a GPU this command "
                         "measures it"}}));
}

namespace {

bool publishes(const Paper& paper, const Experiment& experiment, std::string_view metric)
{
    return std::ranges::any_of(experiment.rows, [&](const PaperRow& row) {
        return paper.find(experiment.figure, row.row, metric) != nullptr;
    });
}

/// The entry of the CPU's row, if there is one.
const bench::Entry* find_host(const Experiment& experiment, const MeasuredPaper* measured)
{
    const auto row = std::ranges::find_if(experiment.rows, &PaperRow::is_host);
    return row == experiment.rows.end() ? nullptr : find_entry(measured, experiment, row->row);
}

std::string ladder_table(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum Table::Align;
    Beside beside;
    beside.host = find_host(experiment, measured);
    // Columns that most sources have nothing for.
    const bool has_cpu = beside.host || publishes(paper, experiment, "over_cpu");
    const bool has_start = publishes(paper, experiment, "start_time");
    const auto optional_columns = [&](std::vector<Table::Column>& columns) {
        if (has_cpu)
            columns.push_back({"over CPU", right});
        if (has_start)
            columns.push_back({"start", right});
    };
    std::vector<Table::Column> columns = {{"rung"},        {"stage"},       {"then", right},
                                          {"GB/s", right}, {"step", right}, {"total", right}};
    optional_columns(columns);
    columns.insert(columns.end(), {{"now", right},
                                   {"quartiles", right},
                                   {"GB/s", right},
                                   {"of ceiling", right},
                                   {"step", right},
                                   {"total", right}});
    optional_columns(columns);
    Table table(columns);
    for (const auto& row : experiment.rows) {
        const auto published = [&](std::string_view metric) {
            return paper.find(experiment.figure, row.row, metric);
        };
        const auto* entry = find_entry(measured, experiment, row.row);
        if (!beside.first && !row.is_host)
            beside.first = entry;
        std::vector<std::string> cells = {row.row,
                                          stage_text(row),
                                          published_time(published("time")),
                                          published_text(published("bandwidth")),
                                          published_text(published("step_speed_up")),
                                          published_text(published("cumulative_speed_up"))};
        if (has_cpu)
            cells.push_back(published_text(published("over_cpu")));
        if (has_start)
            cells.push_back(published_time(published("start_time")));
        auto now = measured_cells(entry, beside);
        if (!has_start)
            now.erase(now.begin() + 7);
        if (!has_cpu)
            now.erase(now.begin() + 6);
        cells.insert(cells.end(), now.begin(), now.end());
        table.add(std::move(cells));
        if (!row.is_host)
            beside.before = entry;
    }
    return table.print() + reversals(paper, experiment, measured);
}

/// What both clocks say of one launch; the host's includes the launch and the wait for its end.
std::string timer_table(const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum Table::Align;
    Table table({{"row"},
                 {"stage"},
                 {"events", right},
                 {"quartiles", right},
                 {"host clock", right},
                 {"quartiles", right},
                 {"host - events", right},
                 {"host / events", right},
                 {"start", right}});
    for (const auto& row : experiment.rows) {
        std::vector<std::string> cells = {row.row, stage_text(row)};
        const auto* entry = find_entry(measured, experiment, row.row);
        if (!is_timed(entry) || !entry->wall_milliseconds) {
            cells.resize(9);
            if (entry && !is_timed(entry))
                cells[2] = bench::name(entry->outcome);
        } else {
            const auto& events = entry->milliseconds;
            const auto& host = *entry->wall_milliseconds;
            cells.insert(
                cells.end(),
                {microseconds_text(events.median), range_text(events), microseconds_text(host.median),
                 range_text(host), microseconds_text(host.median - events.median),
                 times_text(host.median / events.median),
                 entry->host_microseconds ? fmt::format("{:.1f} us", *entry->host_microseconds) : ""});
        }
        table.add(std::move(cells));
    }
    return table.print();
}

}  // namespace

std::string print_experiment(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    const auto table = experiment.kind == ExperimentKind::timer ? timer_table(experiment, measured)
                                                                : ladder_table(paper, experiment, measured);
    return fmt::format("{}: {}{}, {} elements, {}\n\n{}{}", experiment.figure, experiment.op,
                       experiment.type ? fmt::format(" of {}", name(*experiment.type)) : "",
                       bench::element_text(experiment.num_elements), experiment.title, table,
                       troubles(experiment, measured));
}

}  // namespace segfold::cli
