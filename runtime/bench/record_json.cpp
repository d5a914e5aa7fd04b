#include "runtime/bench/record_json.h"

#include <nlohmann/json.hpp>

namespace segfold::bench {
namespace {

Json quartiles_json(const Quartiles& quartiles)
{
    return {{"low", quartiles.low}, {"median", quartiles.median}, {"high", quartiles.high}};
}

Quartiles quartiles_from(const Json& document)
{
    return {document.at("low"), document.at("median"), document.at("high")};
}

}  // namespace

Json json_of(const MachineRecord& machine)
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
    object["outcome"] = name(entry.outcome);
    if (!entry.reason.empty())
        object["reason"] = entry.reason;
    if (entry.outcome == Outcome::measured) {
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

MachineRecord machine_from(const Json& document)
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
        for (const auto outcome : {Outcome::measured, Outcome::abandoned, Outcome::left_out, Outcome::failed})
            if (name(outcome) == object.at("outcome").get<std::string>())
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
            entry.resources = Resources{resources.at("registers"), resources.at("spill_bytes"),
                                        resources.at("shared_bytes"), resources.value("local_bytes", 0),
                                        resources.at("occupancy")};
        }
        entry.compile_milliseconds = object.value("compile_milliseconds", 0.0);
        entry.is_compiled_before = object.value("compiled_before", false);
        const auto& agreement = object.at("agreement");
        entry.agreement = {agreement.at("checked"), agreement.at("agrees"), agreement.at("text")};
        record.entries.push_back(std::move(entry));
    }
    return record;
}

}  // namespace segfold::bench
