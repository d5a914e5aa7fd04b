#include "runtime/cli/bench_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/bench/markdown.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using bench::Entry;
using bench::WorkloadRecord;

Json quartiles_json(const Quartiles& quartiles)
{
    return {{"low", quartiles.low}, {"median", quartiles.median}, {"high", quartiles.high}};
}

Quartiles quartiles_from(const Json& document)
{
    return {document.at("low"), document.at("median"), document.at("high")};
}

/// A length of time in milliseconds with four digits that count.
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
        cells.insert(
            cells.end(),
            {milliseconds_text(entry.milliseconds.median),
             fmt::format("{} - {}", milliseconds_text(entry.milliseconds.low),
                         milliseconds_text(entry.milliseconds.high)),
             fmt::format("{:.0f}", entry.bytes_per_second / kGigabyte), fmt::format("{:.3f}", entry.fraction),
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

/// What a table's cells have no room for.
std::string notes(const WorkloadRecord& record)
{
    std::string text;
    for (const auto& entry : record.entries) {
        if (!entry.reason.empty())  // a failure names the plan itself
            text += entry.reason.starts_with(entry.name + ":")
                        ? entry.reason + "\n"
                        : fmt::format("{}: {}\n", entry.name, entry.reason);
        if (!entry.agreement.agrees)
            text += fmt::format("{}: wrong results: {}\n", entry.name, entry.agreement.text);
        if (entry.outcome == bench::Outcome::measured && entry.is_by_key)
            text += fmt::format(
                "{}: {:.3f} of the ceiling over the bytes that it moves itself, keys instead of "
                "offsets\n",
                entry.name, entry.fraction_with_keys);
    }
    const bool has_old = std::ranges::any_of(record.entries, &Entry::is_compiled_before);
    return text + (has_old ? "peers were compiled earlier; compile ms is what that took\n" : "");
}

}  // namespace

std::string print(const bench::MachineRecord& machine)
{
    return print_facts({{"device", fmt::format("{}, driver for CUDA {}", machine.device, machine.driver)},
                        {"compiled by", fmt::format("{}; peers of {}", machine.compiler, machine.library)},
                        {"read ceiling", fmt::format("{:.0f} GB/s ({})", machine.ceiling / kGigabyte,
                                                     machine.ceiling_text)}});
}

std::string print(const WorkloadRecord& record)
{
    using Align = TextTable::Align;
    std::string text = print_facts(
        {{"operator", record.op},
         {"data",
          fmt::format("{} elements in {} ({}), {}-bit indices", bench::element_text(record.num_elements),
                      count_text(record.num_segments, "segment"), record.layout, record.index_bits)},
         {"bytes", fmt::format("{} compulsory{}", record.traffic.total(),
                               record.is_flushed ? "; the L2 is emptied before every run" : "")}});
    TextTable table({{"plan"},
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
                     {"agrees"}});
    for (const auto& entry : record.entries)
        table.add(row(entry));
    text += "\n" + table.print() + "\n" + notes(record) + summary(record);
    return text;
}

Json json_of(const bench::MachineRecord& machine)
{
    Json object = {{"device", machine.device},       {"driver", machine.driver},
                   {"compiler", machine.compiler},   {"library", machine.library},
                   {"date", machine.date},           {"ceiling_bytes_per_second", machine.ceiling},
                   {"ceiling", machine.ceiling_text}};
    if (!machine.host.empty())
        object["host"] = machine.host;
    return object;
}

Json json_of(const Entry& entry)
{
    Json object = {{"name", entry.name}, {"peer", entry.is_peer}, {"chosen", entry.is_chosen}};
    if (!entry.is_peer)
        object["configuration"] = entry.configuration;
    if (entry.is_host)
        object["host"] = true;
    object["by_key"] = entry.is_by_key;
    object["outcome"] = bench::name(entry.outcome);
    if (!entry.reason.empty())
        object["reason"] = entry.reason;
    if (entry.outcome == bench::Outcome::measured) {
        object["milliseconds"] = quartiles_json(entry.milliseconds);
        object["runs"] = entry.runs;
        object["bytes_per_second"] = entry.bytes_per_second;
        object["fraction"] = entry.fraction;
        if (entry.is_by_key)
            object["fraction_with_keys"] = entry.fraction_with_keys;
        if (entry.host_microseconds)
            object["host_microseconds"] = *entry.host_microseconds;
        if (entry.wall_milliseconds)
            object["wall_milliseconds"] = quartiles_json(*entry.wall_milliseconds);
    }
    if (const auto& resources = entry.resources) {
        object["resources"] = {{"registers", resources->registers},
                               {"spill_bytes", resources->spill_bytes},
                               {"shared_bytes", resources->shared_bytes},
                               {"occupancy", resources->occupancy}};
        if (resources->local_bytes > 0)
            object["resources"]["local_bytes"] = resources->local_bytes;
    }
    if (entry.compile_milliseconds > 0) {
        object["compile_milliseconds"] = entry.compile_milliseconds;
        object["compiled_before"] = entry.is_compiled_before;
    }
    object["agreement"] = {{"checked", entry.agreement.is_checked},
                           {"agrees", entry.agreement.agrees},
                           {"text", entry.agreement.text}};
    return object;
}

Json json_of(const WorkloadRecord& record)
{
    Json object = {{"operator", record.op},
                   {"layout", record.layout},
                   {"num_elements", record.num_elements},
                   {"num_segments", record.num_segments},
                   {"index_bits", record.index_bits},
                   {"bytes",
                    {{"columns", record.traffic.columns},
                     {"layout", record.traffic.layout},
                     {"results", record.traffic.results},
                     {"keys", record.traffic.keys}}},
                   {"flushed", record.is_flushed},
                   {"preparation_seconds", record.preparation_seconds},
                   {"agrees", record.agrees()}};
    if (const auto ratio = record.speed_up())
        object["speed_up"] = *ratio;
    object["entries"] = Json::array();
    for (const auto& entry : record.entries)
        object["entries"].push_back(json_of(entry));
    return object;
}

bench::MachineRecord machine_from(const Json& document)
{
    return {document.at("device"),  document.at("driver"),     document.at("compiler"),
            document.at("library"), document.at("date"),       document.at("ceiling_bytes_per_second"),
            document.at("ceiling"), document.value("host", "")};
}

WorkloadRecord workload_from(const Json& document)
{
    WorkloadRecord record;
    record.op = document.at("operator");
    record.layout = document.at("layout");
    record.num_elements = document.at("num_elements");
    record.num_segments = document.at("num_segments");
    record.index_bits = document.at("index_bits");
    const auto& bytes = document.at("bytes");
    record.traffic = {bytes.at("columns"), bytes.at("layout"), bytes.at("results"), bytes.at("keys")};
    record.is_flushed = document.at("flushed");
    record.preparation_seconds = document.at("preparation_seconds");
    for (const auto& object : document.at("entries")) {
        Entry entry;
        entry.name = object.at("name");
        entry.is_peer = object.at("peer");
        entry.is_by_key = object.at("by_key");
        entry.is_host = object.value("host", false);
        entry.is_chosen = object.at("chosen");
        entry.configuration = object.value("configuration", "");
        for (const auto outcome : {bench::Outcome::measured, bench::Outcome::abandoned,
                                   bench::Outcome::left_out, bench::Outcome::failed})
            if (bench::name(outcome) == object.at("outcome").get<std::string>())
                entry.outcome = outcome;
        entry.reason = object.value("reason", "");
        if (object.contains("milliseconds")) {
            entry.milliseconds = quartiles_from(object.at("milliseconds"));
            entry.runs = object.at("runs");
            entry.bytes_per_second = object.at("bytes_per_second");
            entry.fraction = object.at("fraction");
            entry.fraction_with_keys = object.value("fraction_with_keys", 0.0);
        }
        if (object.contains("host_microseconds"))
            entry.host_microseconds = object.at("host_microseconds").get<double>();
        if (object.contains("wall_milliseconds"))
            entry.wall_milliseconds = quartiles_from(object.at("wall_milliseconds"));
        if (object.contains("resources")) {
            const auto& resources = object.at("resources");
            entry.resources = bench::Resources{resources.at("registers"), resources.at("spill_bytes"),
                                               resources.at("shared_bytes"),
                                               resources.value("local_bytes", 0), resources.at("occupancy")};
        }
        entry.compile_milliseconds = object.value("compile_milliseconds", 0.0);
        entry.is_compiled_before = object.value("compiled_before", false);
        const auto& agreement = object.at("agreement");
        entry.agreement = {agreement.at("checked"), agreement.at("agrees"), agreement.at("text")};
        record.entries.push_back(std::move(entry));
    }
    return record;
}

}  // namespace segfold::cli
