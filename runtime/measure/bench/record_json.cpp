#include "runtime/measure/bench/record_json.h"

#include <nlohmann/json.hpp>

namespace segfold::bench {
namespace {

Json quartiles_json(const Quartiles& quartiles)
{
    return {{"low", quartiles.low}, {"median", quartiles.median}, {"high", quartiles.high}};
}

Quartiles quartiles_from(const JsonValue& document)
{
    return {document.at("low").number(), document.at("median").number(), document.at("high").number()};
}

/// Returns the text of a member; empty if the member is absent.
std::string text_or_none(const JsonValue& object, const char* key)
{
    const auto member = object.find(key);
    return member ? member->text() : "";
}

bool truth_or_false(const JsonValue& object, const char* key)
{
    const auto member = object.find(key);
    return member && member->truth();
}

double number_or_zero(const JsonValue& object, const char* key)
{
    const auto member = object.find(key);
    return member ? member->number() : 0;
}

Resources resources_from(const JsonValue& object)
{
    const auto local = object.find("local_bytes");
    return {object.at("registers").small(), object.at("spill_bytes").small(),
            object.at("shared_bytes").small(), local ? local->small() : 0, object.at("occupancy").number()};
}

Entry entry_from(const JsonValue& object)
{
    Entry entry;
    entry.name = object.at("name").text();
    entry.is_peer = object.at("peer").truth();
    entry.is_by_key = object.at("by_key").truth();
    entry.is_host = truth_or_false(object, "host");
    entry.is_chosen = object.at("chosen").truth();
    entry.configuration = text_or_none(object, "configuration");
    entry.outcome = static_cast<Outcome>(object.at("outcome").choice(kOutcomeNames));
    entry.reason = text_or_none(object, "reason");
    if (const auto milliseconds = object.find("milliseconds")) {
        entry.milliseconds = quartiles_from(*milliseconds);
        entry.runs = object.at("runs").small();
        entry.bytes_per_second = object.at("bytes_per_second").number();
        entry.fraction = object.at("fraction").number();
        entry.fraction_with_keys = number_or_zero(object, "fraction_with_keys");
    }
    if (const auto microseconds = object.find("host_microseconds"))
        entry.host_microseconds = microseconds->number();
    if (const auto milliseconds = object.find("wall_milliseconds"))
        entry.wall_milliseconds = quartiles_from(*milliseconds);
    if (const auto resources = object.find("resources"))
        entry.resources = resources_from(*resources);
    entry.compile_milliseconds = number_or_zero(object, "compile_milliseconds");
    entry.is_compiled_before = truth_or_false(object, "compiled_before");
    const auto agreement = object.at("agreement");
    entry.agreement = {agreement.at("checked").truth(), agreement.at("agrees").truth(),
                       agreement.at("text").text()};
    return entry;
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
    if (record.num_features != 1)
        object["num_features"] = record.num_features;
    if (const auto ratio = record.speed_up())
        object["speed_up"] = *ratio;
    object["entries"] = Json::array();
    for (const auto& entry : record.entries)
        object["entries"].push_back(json_of(entry));
    return object;
}

MachineRecord machine_from(const JsonValue& document)
{
    return {document.at("device").text(),   document.at("driver").text(),
            document.at("compiler").text(), document.at("library").text(),
            document.at("date").text(),     document.at("ceiling_bytes_per_second").number(),
            document.at("ceiling").text(),  text_or_none(document, "host")};
}

WorkloadRecord workload_from(const JsonValue& document)
{
    WorkloadRecord record;
    record.op = document.at("operator").text();
    record.layout = document.at("layout").text();
    record.num_elements = document.at("num_elements").count();
    record.num_segments = document.at("num_segments").count();
    if (const auto features = document.find("num_features"))
        record.num_features = features->count();
    record.index_bits = document.at("index_bits").small();
    const auto bytes = document.at("bytes");
    record.traffic = {bytes.at("columns").count(), bytes.at("layout").count(), bytes.at("results").count(),
                      bytes.at("keys").count()};
    record.is_flushed = document.at("flushed").truth();
    record.preparation_seconds = document.at("preparation_seconds").number();
    for (const auto& object : document.at("entries").elements())
        record.entries.push_back(entry_from(object));
    return record;
}

}  // namespace segfold::bench
