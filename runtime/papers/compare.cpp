#include "runtime/papers/compare.h"

#include <algorithm>
#include <cmath>

namespace segfold::papers {
namespace {

/// A measured ratio of times that differs from 1 by less than this is taken as noise.
constexpr double kNoise = 0.03;

/// Returns the published speed of `row` divided by that of `before`. Takes the ratio from the source, or
/// computes it from the source's times. Returns nothing if the source states neither.
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

const bench::Entry* find_entry(const MeasuredPaper* measured, const Experiment& experiment,
                               const std::string& row, bool is_peer)
{
    if (!measured)
        return nullptr;
    const auto of_figure =
        std::ranges::find(measured->experiments, experiment.figure, &MeasuredExperiment::figure);
    if (of_figure == measured->experiments.end())
        return nullptr;
    const auto& entries = of_figure->record.entries;
    const auto entry = std::ranges::find_if(
        entries, [&](const bench::Entry& one) { return one.name == row && one.is_peer == is_peer; });
    return entry == entries.end() ? nullptr : &*entry;
}

}  // namespace

const bench::Entry* find_entry(const MeasuredPaper* measured, const Experiment& experiment,
                               const std::string& row)
{
    return find_entry(measured, experiment, row, false);
}

const bench::Entry* find_peer(const MeasuredPaper* measured, const Experiment& experiment,
                              const std::string& row)
{
    return find_entry(measured, experiment, row, true);
}

const bench::Entry* find_host(const Experiment& experiment, const MeasuredPaper* measured)
{
    const auto row = std::ranges::find_if(experiment.rows, &PaperRow::is_host);
    return row == experiment.rows.end() ? nullptr : find_entry(measured, experiment, row->row);
}

const bench::Entry* find_pinned(const Experiment& experiment, const MeasuredPaper* measured, bool to_host)
{
    for (const auto& row : experiment.rows)
        if (row.transfer.is_pinned && row.stage.empty() && row.transfer.to_host == to_host)
            return find_entry(measured, experiment, row.row);
    return nullptr;
}

bool is_timed(const bench::Entry* entry)
{
    return entry && entry->outcome == bench::Outcome::measured && entry->milliseconds.median > 0;
}

bool publishes(const Paper& paper, const Experiment& experiment, std::string_view metric)
{
    return std::ranges::any_of(experiment.rows, [&](const PaperRow& row) {
        return paper.find(experiment.figure, row.row, metric) != nullptr;
    });
}

std::optional<double> gain(const bench::Entry* before, const bench::Entry* entry)
{
    if (!is_timed(before) || !is_timed(entry))
        return std::nullopt;
    return before->milliseconds.median / entry->milliseconds.median;
}

std::optional<double> rate_share(const bench::Entry* entry, const bench::Entry* whole)
{
    if (!is_timed(entry) || !is_timed(whole))
        return std::nullopt;
    return entry->bytes_per_second / whole->bytes_per_second;
}

std::vector<Reversal> reversals(const Paper& paper, const Experiment& experiment,
                                const MeasuredPaper* measured)
{
    std::vector<Reversal> all;
    for (std::size_t i = 1; i < experiment.rows.size(); ++i) {
        if (experiment.rows[i - 1].is_host || experiment.rows[i].is_host)
            continue;
        const auto& before = experiment.rows[i - 1].row;
        const auto& row = experiment.rows[i].row;
        const auto then = published_step(paper, experiment.figure, before, row);
        const auto now =
            gain(find_entry(measured, experiment, before), find_entry(measured, experiment, row));
        if (then && now && (*then > 1) != (*now > 1) && std::abs(*now - 1) > kNoise)
            all.push_back({before, row, *then, *now});
    }
    return all;
}

}  // namespace segfold::papers
