#include "runtime/cli/views/paper_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cli/views/paper_kind_view.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/papers/cells.h"
#include "runtime/papers/compare.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using papers::Experiment;
using papers::ExperimentKind;
using papers::gain;
using papers::is_timed;
using papers::MeasuredPaper;
using papers::Paper;
using papers::PaperRow;
using papers::range_text;
using papers::rate_text;
using papers::Reversal;
using papers::time_text;
using papers::times_text;

/// The measurements with which a row of a ladder (one kernel) is compared.
struct Beside {
    const bench::Entry* before = nullptr;  ///< the previous row
    const bench::Entry* first = nullptr;
    const bench::Entry* host = nullptr;  ///< the fold on the CPU
};

std::string gain_text(std::optional<double> gain) { return gain ? times_text(*gain) : ""; }

/// Returns a row's cells in the measured columns: now, quartiles, GB/s, of ceiling, step, total, over CPU,
/// start.
std::vector<std::string> measured_cells(const bench::Entry* entry, const Beside& beside)
{
    if (!entry)
        return std::vector<std::string>(8);
    if (!is_timed(entry))
        return {std::string(bench::name(entry->outcome)), "", "", "", "", "", "", ""};
    return {time_text(entry->milliseconds.median),
            range_text(entry->milliseconds),
            rate_text(*entry),
            entry->is_host ? "" : fmt::format("{:.3f}", entry->fraction),
            entry->is_host ? "" : gain_text(gain(beside.before, entry)),
            entry->is_host || entry == beside.first ? "" : gain_text(gain(beside.first, entry)),
            gain_text(gain(beside.host, entry)),
            entry->host_microseconds ? fmt::format("{:.1f} us", *entry->host_microseconds) : ""};
}

/// Returns a line for each step of a ladder whose direction differs: faster when published and slower here,
/// or the reverse.
std::string print(const std::vector<Reversal>& reversals)
{
    std::string text;
    for (const auto& [before, row, then, now] : reversals)
        text += fmt::format("{} is {:.2f} times as fast as {} here; {:.2f} times when it was published\n",
                            row, now, before, then);
    return text.empty() ? text : "\n" + text;
}

/// Lists the rows that failed or gave wrong results, with the reasons.
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
    const auto published = devices.empty() ? "no numbers" : fmt::format("{}", fmt::join(devices, ", "));
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

std::string ladder_table(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum TextTable::Align;
    Beside beside;
    beside.host = find_host(experiment, measured);
    // Most papers have no numbers in these columns.
    const bool has_cpu = beside.host || publishes(paper, experiment, "over_cpu");
    const bool has_start = publishes(paper, experiment, "start_time");
    const auto optional_columns = [&](std::vector<TextTable::Column>& columns) {
        if (has_cpu)
            columns.push_back({"over CPU", right});
        if (has_start)
            columns.push_back({"start", right});
    };
    std::vector<TextTable::Column> columns = {{"rung"},        {"stage"},       {"then", right},
                                              {"GB/s", right}, {"step", right}, {"total", right}};
    optional_columns(columns);
    columns.insert(columns.end(), {{"now", right},
                                   {"quartiles", right},
                                   {"GB/s", right},
                                   {"of ceiling", right},
                                   {"step", right},
                                   {"total", right}});
    optional_columns(columns);
    TextTable table(columns);
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
    return table.print() + print(reversals(paper, experiment, measured));
}

std::string table_of(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    switch (experiment.kind) {
        case ExperimentKind::probe: return print_probes(paper, experiment, measured);
        case ExperimentKind::transfer: return print_transfers(paper, experiment, measured);
        case ExperimentKind::timer: return print_timers(experiment, measured);
        case ExperimentKind::contest: return print_contest(paper, experiment, measured);
        case ExperimentKind::ladder: break;
    }
    return ladder_table(paper, experiment, measured);
}

/// Describes the size of an experiment, such as "sum of i32, 2^22 elements" or "2^20 threads".
std::string subject_text(const Experiment& experiment)
{
    const auto count = bench::element_text(experiment.num_elements);
    if (experiment.kind == ExperimentKind::probe)
        return count + " threads";
    return fmt::format("{}{}, {} elements", experiment.op,
                       experiment.type ? fmt::format(" of {}", name(*experiment.type)) : "", count);
}

}  // namespace

std::string print_experiment(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    return fmt::format("{}: {}, {}\n\n{}{}", experiment.figure, subject_text(experiment), experiment.title,
                       table_of(paper, experiment, measured), troubles(experiment, measured));
}

}  // namespace segfold::cli
