#include "runtime/session/choice/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "codegen/weave/weave.h"
#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/support/json_value.h"

namespace segfold {
namespace {

constexpr std::int64_t kRecordVersion = 1;
constexpr std::array<std::string_view, 5> kAdvice = {"//% suits ", "//% fits ", "//% title ", "//% source ",
                                                     "//% after "};
constexpr std::array<std::string_view, 5> kPhases = {"spot", "screened", "ranked", "chosen", "pinned"};

double time_of(const JsonValue& value)
{
    const double milliseconds = value.number();
    if (!(milliseconds >= 0) || !std::isfinite(milliseconds))
        value.refuse("milliseconds must be a number of 0 or more");
    return milliseconds;
}

Configuration configuration_of(const JsonValue& value)
{
    Configuration all;
    for (const auto& [tunable, chosen] : value.members())
        all[tunable] = chosen.small();
    return all;
}

// Rounds to six significant digits. Uses strtod, because stod throws for subnormal numbers.
double rounded(double number) { return std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr); }

PlanMeasurement measurement_of(const JsonValue& row)
{
    PlanMeasurement measurement;
    measurement.outcome = outcome_of(row.at("outcome"));
    measurement.reason = row.at("reason").text();
    measurement.milliseconds = time_of(row.at("milliseconds"));
    if (measurement.outcome == MeasurementOutcome::correct && measurement.milliseconds == 0)
        row.at("milliseconds").refuse("what was measured took some time");
    for (const auto& sample : row.at("samples").elements())
        measurement.samples.push_back(time_of(sample));
    measurement.compile_milliseconds = time_of(row.at("compile_milliseconds"));
    return measurement;
}

DeviceIdentity device_of(const JsonValue& field)
{
    return {field.at("name").text(),
            field.at("compute_capability").small(),
            field.at("multiprocessors").small(),
            field.at("l2_bytes").count(),
            field.at("bus_width_bits").small(),
            field.at("clock_khz").small(),
            field.at("memory_clock_khz").small()};
}

/// True if a row has the optional member `name` and it is true.
bool is_true(const JsonValue& field, const char* name) { return field.has(name) && field.at(name).truth(); }

ProblemClass problem_of(const JsonValue& field)
{
    return {field.at("form").text(),         field.at("index_bits").small(),
            field.at("key_bytes").small(),   field.at("element_bytes").count(),
            field.at("state_bytes").count(), field.at("commutative").truth(),
            field.at("identity").truth(),    field.at("costly").truth(),
            is_true(field, "rows"),          is_true(field, "map"),
            is_true(field, "scan")};
}

/// Returns a stage's text without its lines of advice (kAdvice), such as when the stage suits. They do not
/// change the kernel of a complete configuration, as a row has it.
std::string without_advice(std::string_view text)
{
    std::string kept;
    while (!text.empty()) {
        const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        const auto is_advice = [&](std::string_view word) { return line.starts_with(word); };
        if (!std::ranges::any_of(kAdvice, is_advice))
            kept += line;
        text.remove_prefix(line.size());
    }
    return kept;
}

}  // namespace

ProblemClass class_of(const Problem& problem)
{
    return {std::string(name(problem.form)),
            problem.index_bits,
            problem.form == SegmentForm::keys ? problem.key_bytes : 0,
            problem.facts->at("element_bytes"),
            problem.facts->at("state_bytes"),
            problem.laws.commutative,
            problem.op.has_identity(),
            problem.facts->at("costly_combine") != 0,
            has_rows(problem.op),
            problem.op.map.has_value(),
            problem.op.scan.has_value()};
}

ProblemClass folded_on_host(ProblemClass problem)
{
    if (problem.form == name(SegmentForm::flags) || problem.form == name(SegmentForm::keys))
        problem.form = name(SegmentForm::offsets);
    problem.key_bytes = 0;
    return problem;
}

std::string print(const ProblemClass& problem)
{
    return fmt::format("{}, {}-bit indices, {} bytes an element, {} bytes a state{}{}{}{}{}{}", problem.form,
                       problem.index_bits, problem.element_bytes, problem.state_bytes,
                       problem.is_commutative ? ", commutative" : "",
                       problem.has_identity ? "" : ", without identity", problem.is_costly ? ", costly" : "",
                       problem.has_rows ? ", rows" : "", problem.has_map ? ", write-back" : "",
                       problem.has_scan ? ", running results" : "");
}

std::string_view name(TuningPhase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

std::string hash_text(std::string_view text)
{
    // FNV-1a. Different texts should have different hashes; attacks do not matter.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

std::string operator_hash(const Operator& op) { return hash_text(segfold::print(op)); }

std::string stage_hash(const Stage& stage, const Catalogue& catalogue)
{
    std::string text = without_advice(stage.text);
    std::set<std::string> used;
    const std::function<void(std::string_view)> add = [&](std::string_view source) {
        for (const auto& directive : directives_of(source))
            if (directive.word == "use" && used.insert(directive.argument).second) {
                const auto part = catalogue.part(directive.argument).text;
                text += part;
                add(part);
            }
    };
    add(stage.text);
    return hash_text(text);
}

TuningRecord blank_record(const DeviceIdentity& device, const Problem& problem, const Shape& shape,
                          std::int64_t bytes)
{
    TuningRecord record;
    record.device = device;
    record.op = problem.op.name;
    record.op_hash = operator_hash(problem.op);
    record.problem = class_of(problem);
    record.shape = shape;
    record.measurement.outcome = MeasurementOutcome::runtime;  // until it is measured
    record.bytes = bytes;
    record.date = time_stamp();
    return record;
}

std::string time_stamp()
{
    const auto now = std::time(nullptr);
    std::tm parts = {};
    gmtime_r(&now, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string print(const TuningRecord& record)
{
    const auto& [device, driver, compiler, op, op_hash, problem, layout, shape, point, hash, phase,
                 measurement, bytes, date, origin] = record;
    Json samples = Json::array();
    for (const double sample : measurement.samples)
        samples.push_back(rounded(sample));
    Json configuration = Json::object();
    for (const auto& [name, value] : point.configuration)
        configuration[name] = value;
    Json sizes = {
        {"elements", shape.num_elements}, {"segments", shape.num_segments}, {"longest", shape.longest}};
    if (shape.num_features > 0)
        sizes["features"] = shape.num_features;
    if (shape.padded > 0)
        sizes["padded"] = shape.padded;
    Json its_class = {{"form", problem.form},
                      {"index_bits", problem.index_bits},
                      {"key_bytes", problem.key_bytes},
                      {"element_bytes", problem.element_bytes},
                      {"state_bytes", problem.state_bytes},
                      {"commutative", problem.is_commutative},
                      {"identity", problem.has_identity},
                      {"costly", problem.is_costly}};
    if (problem.has_rows)
        its_class["rows"] = true;
    if (problem.has_map)
        its_class["map"] = true;
    if (problem.has_scan)
        its_class["scan"] = true;
    const Json line = {{"version", kRecordVersion},
                       {"device",
                        {{"name", device.name},
                         {"compute_capability", device.compute_capability},
                         {"multiprocessors", device.multiprocessors},
                         {"l2_bytes", device.l2_bytes},
                         {"bus_width_bits", device.bus_width_bits},
                         {"clock_khz", device.clock_khz},
                         {"memory_clock_khz", device.memory_clock_khz}}},
                       {"driver", driver},
                       {"compiler", compiler},
                       {"operator", op},
                       {"operator_hash", op_hash},
                       {"problem", std::move(its_class)},
                       {"layout", layout},
                       {"shape", std::move(sizes)},
                       {"stage", point.stage},
                       {"configuration", std::move(configuration)},
                       {"stage_hash", hash},
                       {"phase", name(phase)},
                       {"outcome", name(measurement.outcome)},
                       {"reason", measurement.reason},
                       {"milliseconds", rounded(measurement.milliseconds)},
                       {"samples", std::move(samples)},
                       {"compile_milliseconds", rounded(measurement.compile_milliseconds)},
                       {"bytes", bytes},
                       {"date", date}};
    return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TuningRecord parse_record(const std::string& place, std::string_view line)
{
    // Damage may join two rows into one object, of which the parser would keep the last members. No value in
    // a row contains this text.
    constexpr std::string_view kFirstMember = "\"version\":";
    if (const auto first = line.find(kFirstMember);
        first != line.npos && line.find(kFirstMember, first + 1) != line.npos)
        throw InputError(fmt::format("{}: two records stand in one line", place));
    Json document;
    try {
        document = Json::parse(line);
    } catch (const Json::parse_error& error) {
        throw InputError(
            fmt::format("{}: no JSON at byte {}; a record is one object a line", place, error.byte));
    } catch (const Json::out_of_range&) {
        throw InputError(fmt::format("{}: the number {} is beyond what a 64-bit float holds", place,
                                     JsonOverflow(line).number));
    }
    const JsonValue row(place + ": row", document);
    if (const auto version = row.at("version"); version.count() != kRecordVersion)
        version.refuse(fmt::format("this program reads version {}", kRecordVersion));
    TuningRecord record;
    record.device = device_of(row.at("device"));
    record.driver = row.at("driver").text();
    record.compiler = row.at("compiler").text();
    record.op = row.at("operator").text();
    record.op_hash = row.at("operator_hash").text();
    record.problem = problem_of(row.at("problem"));
    record.layout = row.at("layout").text();
    const auto shape = row.at("shape");
    record.shape = {shape.at("elements").count(), shape.at("segments").count(), shape.at("longest").count(),
                    shape.has("features") ? shape.at("features").count() : 0,
                    shape.has("padded") ? shape.at("padded").count() : 0};
    record.point = {row.at("stage").text(), configuration_of(row.at("configuration"))};
    record.stage_hash = row.at("stage_hash").text();
    record.phase = static_cast<TuningPhase>(row.at("phase").choice(kPhases));
    record.measurement = measurement_of(row);
    record.bytes = row.at("bytes").count();
    record.date = row.at("date").text();
    record.origin = place;
    return record;
}

TuningRecords parse_records(const std::string& name, std::string_view text)
{
    TuningRecords records;
    for (int number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = text.substr(0, end);
        text = end == text.npos ? std::string_view() : text.substr(end + 1);
        if (line.find_first_not_of(" \t\r") == line.npos)
            continue;
        const auto place = fmt::format("{}:{}", name, number);
        try {
            records.rows.push_back(parse_record(place, line));
        } catch (const InputError& error) {
            records.complaints.push_back(
                end == line.npos && text.empty() && line.back() != '}'
                    ? fmt::format("{}: the line is cut off after {} bytes, as when a program is ended while "
                                  "it writes; it is passed over",
                                  place, line.size())
                    : fmt::format("{}; the line is passed over", error.what()));
        }
    }
    return records;
}

}  // namespace segfold
