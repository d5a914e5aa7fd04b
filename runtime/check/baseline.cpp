#include "runtime/check/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "dsl/error.h"
#include "runtime/support/files/file.h"
#include "runtime/support/json_value.h"

namespace segfold::regress {
namespace {

constexpr std::string_view kBaselineFormat = "segfold regress baseline";
constexpr std::int64_t kBaselineVersion = 1;
constexpr std::uint64_t kMostBaselineBytes = std::uint64_t{256} << 20;

double ratio_of(const JsonValue& value)
{
    const double number = value.number();
    if (!(number > 0) || !std::isfinite(number))
        value.refuse("a ratio must be a positive number");
    return number;
}

StaticCosts static_costs_of(const JsonValue& node)
{
    StaticCosts all;
    all.compiler = node.at("compiler").text();
    for (const auto& row : node.at("costs").elements()) {
        StaticCost cost;
        cost.op = row.at("operator").text();
        cost.stage = row.at("stage").text();
        cost.form = row.at("form").text();
        cost.configuration = row.at("configuration").text();
        cost.architecture = row.at("architecture").text();
        cost.registers = row.at("registers").count();
        cost.spill_bytes = row.at("spill_bytes").count();
        cost.stack_bytes = row.at("stack_bytes").count();
        cost.shared_bytes = row.at("shared_bytes").count();
        cost.instructions = row.at("instructions").count();
        all.costs.push_back(std::move(cost));
    }
    return all;
}

Json baseline_json(const StaticCost& cost)
{
    return {{"operator", cost.op},
            {"stage", cost.stage},
            {"form", cost.form},
            {"configuration", cost.configuration},
            {"architecture", cost.architecture},
            {"registers", cost.registers},
            {"spill_bytes", cost.spill_bytes},
            {"stack_bytes", cost.stack_bytes},
            {"shared_bytes", cost.shared_bytes},
            {"instructions", cost.instructions}};
}

TimeCase time_case_of(const JsonValue& row)
{
    TimeCase one;
    one.op = row.at("operator").text();
    one.stage = row.at("stage").text();
    one.layout = row.at("layout").text();
    one.against = row.at("against").text();
    one.configuration = row.at("configuration").text();
    for (const auto& round : row.at("rounds").elements()) {
        one.rounds.emplace_back();
        for (const auto& ratio : round.elements())
            one.rounds.back().push_back(ratio_of(ratio));
        if (one.rounds.back().empty())
            round.refuse("a round has at least one ratio");
    }
    return one;
}

Json baseline_json(const TimeCase& one)
{
    Json rounds = Json::array();
    for (const auto& round : one.rounds) {
        rounds.push_back(Json::array());
        for (const double ratio : round)
            rounds.back().push_back(std::strtod(fmt::format("{:.5g}", ratio).c_str(), nullptr));
    }
    return {{"operator", one.op},
            {"stage", one.stage},
            {"layout", one.layout},
            {"against", one.against},
            {"configuration", one.configuration},
            {"rounds", std::move(rounds)}};
}

DeviceTimes device_times_of(const JsonValue& node)
{
    DeviceTimes times;
    times.device = node.at("device").text();
    times.driver = node.at("driver").text();
    times.compiler = node.at("compiler").text();
    times.num_elements = node.at("num_elements").count();
    for (const auto& row : node.at("cases").elements())
        times.cases.push_back(time_case_of(row));
    return times;
}

/// Returns a JSON list with one element per line.
template <class Range, class ToJson>
std::string list_text(const Range& range, ToJson to_json)
{
    std::string text = "[";
    for (const auto& element : range)
        text += (text.size() == 1 ? "\n" : ",\n") + to_json(element);
    return text + "\n]";
}

std::string print(const StaticCosts& all)
{
    return fmt::format(
        "{{\"compiler\": {}, \"costs\": {}}}", Json(all.compiler).dump(),
        list_text(all.costs, [](const StaticCost& cost) { return baseline_json(cost).dump(); }));
}

std::string print(const DeviceTimes& times)
{
    return fmt::format(
        "{{\"device\": {}, \"driver\": {}, \"compiler\": {}, \"num_elements\": {}, \"cases\": {}}}",
        Json(times.device).dump(), Json(times.driver).dump(), Json(times.compiler).dump(), times.num_elements,
        list_text(times.cases, [](const TimeCase& one) { return baseline_json(one).dump(); }));
}

/// Adds the cases of `then` that `stay` selects to `now`, and returns 0. If `can_stay` is false, adds nothing
/// and returns the number of selected cases.
template <class Case>
std::size_t keep(const std::vector<Case>& then, const std::function<bool(const Case&)>& stay, bool can_stay,
                 std::vector<Case>& now)
{
    std::vector<Case> kept;
    if (stay)
        std::ranges::copy_if(then, std::back_inserter(kept), stay);
    if (!can_stay)
        return kept.size();
    now.insert(now.begin(), kept.begin(), kept.end());
    return 0;
}

}  // namespace

const DeviceTimes* Baseline::find(std::string_view device) const
{
    const auto found = std::ranges::find(times, device, &DeviceTimes::device);
    return found == times.end() ? nullptr : &*found;
}

std::size_t Baseline::replace(DeviceTimes own, const std::function<bool(const TimeCase&)>& stay)
{
    std::size_t lost = 0;
    if (const auto* then = find(own.device)) {
        const bool is_alike = then->driver == own.driver && then->compiler == own.compiler &&
                              then->num_elements == own.num_elements;
        lost = keep(then->cases, stay, is_alike, own.cases);
    }
    std::erase_if(times, [&](const DeviceTimes& other) { return other.device == own.device; });
    times.push_back(std::move(own));
    return lost;
}

std::size_t Baseline::replace(StaticCosts own, const std::function<bool(const StaticCost&)>& stay)
{
    const auto lost =
        static_costs ? keep(static_costs->costs, stay, static_costs->compiler == own.compiler, own.costs) : 0;
    static_costs = std::move(own);
    return lost;
}

Baseline parse_baseline(const std::string& name, std::string_view text)
{
    Json document;
    try {
        document = parse_json(name, text);
    } catch (const Json::parse_error& error) {
        throw InputError(
            fmt::format("{}: no JSON: byte {}: a baseline is what --save has written", name, error.byte));
    } catch (const Json::out_of_range&) {
        const JsonOverflow overflow(text);
        throw InputError(fmt::format("{}:{}: the number {} is beyond what a 64-bit float holds", name,
                                     overflow.line, overflow.number));
    }
    const JsonValue root(name + ": document", document);
    const auto members = root.members();
    if (!root.has("format"))
        throw InputError(fmt::format("{}: not a file that regress --save has written: it has no 'format'{}",
                                     name,
                                     members.empty() ? "" : ", and begins with '" + members[0].first + "'"));
    if (const auto format = root.at("format"); format.text() != kBaselineFormat)
        format.refuse(fmt::format("'{}' is needed, which --save writes", kBaselineFormat));
    if (const auto version = root.at("version"); version.count() != kBaselineVersion)
        version.refuse(fmt::format("this program reads version {}", kBaselineVersion));
    constexpr std::string_view kMembers[] = {"format", "version", "static_costs", "times"};
    for (const auto& [name_of_member, value] : members)
        if (std::ranges::find(kMembers, name_of_member) == std::end(kMembers))
            value.refuse("a baseline has no such member, but format, version, static_costs and times");
    Baseline baseline;
    if (root.has("static_costs"))
        baseline.static_costs = static_costs_of(root.at("static_costs"));
    if (root.has("times"))
        for (const auto& device : root.at("times").elements()) {
            auto times = device_times_of(device);
            if (baseline.find(times.device))
                device.at("device").refuse("another entry has the same device");
            baseline.times.push_back(std::move(times));
        }
    return baseline;
}

Baseline read_baseline(const std::string& path)
{
    const InputFile file(path);
    if (file.bytes() > kMostBaselineBytes)
        throw InputError(fmt::format("{}: the file has {} bytes; a baseline has at most {}", path,
                                     file.bytes(), kMostBaselineBytes));
    std::string text(file.bytes(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return parse_baseline(path, text);
}

std::string print(const Baseline& baseline)
{
    auto text = fmt::format("{{\"format\": \"{}\", \"version\": {}", kBaselineFormat, kBaselineVersion);
    if (baseline.static_costs)
        text += ",\n\"static_costs\": " + print(*baseline.static_costs);
    if (!baseline.times.empty())
        text += ",\n\"times\": " +
                list_text(baseline.times, [](const DeviceTimes& times) { return print(times); });
    return text + "}\n";
}

void write_baseline(const std::string& path, const Baseline& baseline) { write_whole(path, print(baseline)); }

}  // namespace segfold::regress
