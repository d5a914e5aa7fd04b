#include "runtime/cli/views/bench_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/measure/bench/markdown.h"
#include "runtime/support/rate_text.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using bench::Entry;
using bench::WorkloadRecord;

/// Returns a time in milliseconds with four significant digits.
std::string milliseconds_text(double milliseconds)
{
    const int digits = milliseconds >= 1000 ? 0 : milliseconds >= 100 ? 1 : milliseconds >= 10 ? 2 : 4;
    return fmt::format("{:.{}f}", milliseconds, digits);
}

std::string agreement_text(const Entry& entry)
{
    if (entry.outcome == bench::Outcome::left_out || entry.outcome == bench::Outcome::failed)
        return "";
    return !entry.agreement.agrees ? "WRONG" : entry.agreement.is_checked ? "ok" : "-";
}

std::vector<std::string> row(const Entry& entry)
{
    const auto name = entry.name + (entry.is_chosen ? " *" : "");
    std::vector<std::string> cells = {name};
    if (entry.outcome == bench::Outcome::measured) {
        cells.insert(cells.end(),
                     {milliseconds_text(entry.milliseconds.median),
                      fmt::format("{} - {}", milliseconds_text(entry.milliseconds.low),
                                  milliseconds_text(entry.milliseconds.high)),
                      gigabytes_text(entry.bytes_per_second), fmt::format("{:.3f}", entry.fraction),
                      entry.host_microseconds ? fmt::format("{:.1f}", *entry.host_microseconds) : ""});
    } else {
        cells.insert(cells.end(), {std::string(bench::name(entry.outcome)), "", "", "", ""});
    }
    if (entry.resources)
        cells.insert(cells.end(), {std::to_string(entry.resources->registers),
                                   std::to_string(entry.resources->spill_bytes),
                                   std::to_string(entry.resources->shared_bytes),
                                   fmt::format("{:.0f} %", 100 * entry.resources->occupancy)});
    else
        cells.insert(cells.end(), 4, "");
    cells.push_back(entry.compile_milliseconds > 0 ? fmt::format("{:.0f}", entry.compile_milliseconds) : "");
    cells.push_back(agreement_text(entry));
    return cells;
}

std::string summary(const WorkloadRecord& record)
{
    if (record.num_elements == 0)  // times of empty launches do not depend on the plan
        return "there is nothing to time: the data have no elements, so that no plan is called the fastest\n";
    const auto* ours = record.chosen();
    const auto* theirs = record.best_peer();
    const auto* fastest = record.best_stage();
    std::string text;
    if (ours != nullptr && fastest != nullptr && fastest != ours)
        text += fmt::format("fastest stage: {}, {:.2f} times as fast as {}\n", fastest->name,
                            ours->milliseconds.median / fastest->milliseconds.median, ours->name);
    if (ours != nullptr && theirs != nullptr)
        text += fmt::format("best peer: {}, {} ms; {} is {:.2f} times as fast\n", theirs->name,
                            milliseconds_text(theirs->milliseconds.median), ours->name, *record.speed_up());
    return text;
}

/// Returns the notes below a workload's table. They say why times are missing and why plans failed.
std::string notes(const WorkloadRecord& record)
{
    std::string text;
    // Pairs of a reason for missing times and the names of the plans with this reason.
    std::vector<std::pair<std::string, std::string>> left_out;
    for (const auto& entry : record.entries) {
        if (entry.outcome == bench::Outcome::measured && !entry.reason.empty()) {
            auto known =
                std::ranges::find(left_out, entry.reason, &std::pair<std::string, std::string>::first);
            if (known == left_out.end())
                left_out.emplace_back(entry.reason, entry.name);
            else
                known->second += ", " + entry.name;
        } else if (!entry.reason.empty())  // some reasons already begin with the plan's name
            text += entry.reason.starts_with(entry.name + ":")
                        ? entry.reason + "\n"
                        : fmt::format("{}: {}\n", entry.name, entry.reason);
        if (!entry.agreement.agrees)
            text += fmt::format("{}: wrong results: {}\n", entry.name, entry.agreement.text);
        if (entry.outcome == bench::Outcome::measured && entry.is_by_key)
            text += fmt::format("{}: {:.3f} of the ceiling over the bytes that it moves itself, {}\n",
                                entry.name, entry.fraction_with_keys,
                                is_found(record.form) ? "keys of 32 bits and one of each segment"
                                                      : "keys instead of offsets");
    }
    for (const auto& [what, plans] : left_out)
        text += fmt::format("{}: {}\n", plans, what);
    const bool has_old = std::ranges::any_of(record.entries, &Entry::is_compiled_before);
    return text + (has_old ? "peers were compiled earlier; compile ms is what that took\n" : "");
}

}  // namespace

std::string print(const bench::MachineRecord& machine)
{
    return print_facts({{"device", machine.device + bench::driver_text(machine)},
                        {"compiled by", fmt::format("{}; peers of {}", machine.compiler, machine.library)},
                        {"read ceiling", fmt::format("{} GB/s ({})", gigabytes_text(machine.ceiling),
                                                     machine.ceiling_text)}});
}

std::string print(const WorkloadRecord& record)
{
    using Align = TextTable::Align;
    std::string text = print_facts(
        {{"operator", record.op},
         {"data", fmt::format("{} element{}{} in {} ({}), {}-bit indices",
                              bench::element_text(record.num_elements), record.num_elements == 1 ? "" : "s",
                              record.num_features == 1
                                  ? ""
                                  : fmt::format(", rows of {},", count_text(record.num_features, "feature")),
                              count_text(record.num_segments, "segment"), record.layout, record.index_bits)},
         {"bytes", fmt::format("{} compulsory{}", record.traffic.total(),
                               record.is_flushed ? "; the last cache is emptied before every run" : "")}});
    std::vector<TextTable::Column> columns = {{"plan"},
                                              {"ms", Align::right},
                                              {"quartiles", Align::right},
                                              {"GB/s", Align::right},
                                              {"of ceiling", Align::right},
                                              {"host us", Align::right},
                                              {"registers", Align::right},
                                              {"spilled", Align::right},
                                              {"shared", Align::right},
                                              {"occupancy", Align::right},
                                              {"compile ms", Align::right},
                                              {"agrees"}};
    std::vector<std::vector<std::string>> rows;
    for (const auto& entry : record.entries)
        rows.push_back(row(entry));
    // Removes empty columns. For hosts, some columns are always empty.
    for (auto place = std::ssize(columns) - 1; place > 0; --place) {
        const auto is_empty = [&](const auto& cells) {
            return cells[static_cast<std::size_t>(place)].empty();
        };
        if (!std::ranges::all_of(rows, is_empty))
            continue;
        columns.erase(columns.begin() + place);
        for (auto& cells : rows)
            cells.erase(cells.begin() + place);
    }
    TextTable table(columns);
    for (auto& cells : rows)
        table.add(std::move(cells));
    text += "\n" + table.print() + "\n" + notes(record) + summary(record);
    return text;
}

}  // namespace segfold::cli
