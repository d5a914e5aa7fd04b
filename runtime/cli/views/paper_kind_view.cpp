#include "runtime/cli/views/paper_kind_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/papers/cells.h"
#include "runtime/papers/compare.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using papers::Experiment;
using papers::is_timed;
using papers::MeasuredPaper;
using papers::Paper;
using papers::PaperRow;
using papers::range_text;
using papers::rate_text;
using papers::time_text;
using papers::times_text;

/// Returns the rate of `entry` divided by the rate of `whole`; empty if either was not measured.
std::string share_text(const bench::Entry* entry, const bench::Entry* whole)
{
    const auto share = papers::rate_share(entry, whole);
    return share ? fmt::format("{:.3f}", *share) : "";
}

std::string transfer_text(const PaperRow& row)
{
    const auto& method = row.transfer;
    auto text = fmt::format("{}, {}", method.is_pinned ? "pinned" : "pageable",
                            method.to_host ? "to the host" : "to the GPU");
    if (method.chunks > 1)
        text += fmt::format(", {} in {}", count_text(method.chunks, "chunk"),
                            count_text(method.streams, "stream"));
    return row.stage.empty() ? text : text + ", " + stage_text(row);
}

}  // namespace

std::string print_probes(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum TextTable::Align;
    const std::vector<TextTable::Column> columns = {{"row"},
                                                    {"probe"},
                                                    {"of first, then", right},
                                                    {"now", right},
                                                    {"quartiles", right},
                                                    {"GB/s", right},
                                                    {"of first", right},
                                                    {"registers", right},
                                                    {"shared", right},
                                                    {"local", right},
                                                    {"occupancy", right}};
    TextTable table(columns);
    const bench::Entry* first = nullptr;
    for (const auto& row : experiment.rows) {
        std::vector<std::string> cells = {
            row.row, stage_text(row), published_text(paper.find(experiment.figure, row.row, "efficiency"))};
        const auto* entry = find_entry(measured, experiment, row.row);
        if (!first)
            first = entry;
        if (is_timed(entry)) {
            cells.insert(cells.end(), {time_text(entry->milliseconds.median), range_text(entry->milliseconds),
                                       rate_text(*entry), share_text(entry, first)});
            if (const auto& resources = entry->resources)
                cells.insert(cells.end(),
                             {std::to_string(resources->registers), std::to_string(resources->shared_bytes),
                              std::to_string(resources->local_bytes),
                              fmt::format("{:.0f} %", 100 * resources->occupancy)});
        } else if (entry) {
            cells.emplace_back(bench::name(entry->outcome));
        }
        cells.resize(columns.size());
        table.add(std::move(cells));
    }
    return table.print();
}

std::string print_transfers(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum TextTable::Align;
    const std::vector<TextTable::Column> columns = {{"row"},
                                                    {"transfer"},
                                                    {"then", right},
                                                    {"now", right},
                                                    {"quartiles", right},
                                                    {"host clock", right},
                                                    {"GB/s", right},
                                                    {"of pinned copy", right}};
    TextTable table(columns);
    std::string overlaps;
    for (const auto& row : experiment.rows) {
        std::vector<std::string> cells = {row.row, transfer_text(row),
                                          published_time(paper.find(experiment.figure, row.row, "time"))};
        const auto* entry = find_entry(measured, experiment, row.row);
        if (is_timed(entry)) {
            const auto share = share_text(entry, find_pinned(experiment, measured, row.transfer.to_host));
            cells.insert(cells.end(),
                         {time_text(entry->milliseconds.median), range_text(entry->milliseconds),
                          entry->wall_milliseconds ? time_text(entry->wall_milliseconds->median) : "",
                          rate_text(*entry), share});
            if (row.transfer.streams > 1 && !share.empty())
                overlaps += fmt::format("{}: {} of the pinned copy's rate\n", row.row, share);
        } else if (entry) {
            cells.emplace_back(bench::name(entry->outcome));
        }
        cells.resize(columns.size());
        table.add(std::move(cells));
    }
    return table.print() + (overlaps.empty() ? "" : "\n" + overlaps);
}

std::string print_timers(const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum TextTable::Align;
    TextTable table({{"row"},
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
                {time_text(events.median), range_text(events), time_text(host.median), range_text(host),
                 time_text(host.median - events.median), times_text(host.median / events.median),
                 entry->host_microseconds ? fmt::format("{:.1f} us", *entry->host_microseconds) : ""});
        }
        table.add(std::move(cells));
    }
    return table.print();
}

std::string print_contest(const Paper& paper, const Experiment& experiment, const MeasuredPaper* measured)
{
    using enum TextTable::Align;
    std::vector<std::string> devices;
    for (const auto& value : paper.published)
        if (value.figure == experiment.figure && std::ranges::find(devices, value.device) == devices.end())
            devices.push_back(value.device);
    std::vector<TextTable::Column> columns = {{"workload"}};
    for (const auto& device : devices)
        columns.push_back({device, right});
    const bool is_measured = std::ranges::any_of(experiment.rows, [&](const PaperRow& row) {
        return find_entry(measured, experiment, row.row) != nullptr;
    });
    if (is_measured || devices.empty())
        columns.insert(columns.end(), {{"stage"},
                                       {"of ceiling", right},
                                       {"best peer"},
                                       {"of ceiling", right},
                                       {"times as fast", right}});
    TextTable table(columns);
    std::vector<double> ours, theirs, gains;
    for (const auto& row : experiment.rows) {
        std::vector<std::string> cells = {row.row};
        for (const auto& device : devices) {
            const auto value = std::ranges::find_if(paper.published, [&](const auto& one) {
                return one.figure == experiment.figure && one.row == row.row && one.device == device;
            });
            cells.push_back(value == paper.published.end() ? "" : published_text(&*value));
        }
        const auto* plan = find_entry(measured, experiment, row.row);
        const auto* peer = find_peer(measured, experiment, row.row);
        for (const auto* entry : {plan, peer}) {
            const bool has_time = is_timed(entry);
            cells.push_back(entry ? entry->configuration.substr(0, entry->configuration.find(' ')) : "");
            cells.push_back(has_time ? fmt::format("{:.2f}", entry->fraction)
                            : entry  ? std::string(bench::name(entry->outcome))
                                     : "");
        }
        const auto gain = papers::gain(peer, plan);
        cells.push_back(gain ? times_text(*gain) : "");
        if (gain) {
            ours.push_back(plan->fraction);
            theirs.push_back(peer->fraction);
            gains.push_back(*gain);
        }
        cells.resize(columns.size());
        table.add(std::move(cells));
    }
    if (gains.size() > 1) {
        std::vector<std::string> cells = {fmt::format("geometric mean of {}", gains.size())};
        cells.resize(devices.size() + 2);
        cells.push_back(fmt::format("{:.2f}", geometric_mean(ours)));
        cells.emplace_back();
        cells.push_back(fmt::format("{:.2f}", geometric_mean(theirs)));
        cells.push_back(times_text(geometric_mean(gains)));
        table.add(std::move(cells));
    }
    return table.print();
}

}  // namespace segfold::cli
