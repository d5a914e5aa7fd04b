#include "runtime/measure/tune/t4.h"

#include <nlohmann/json.hpp>

namespace segfold::tune {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the name of an outcome in the T4 schema.
std::string_view invalidity(MeasurementOutcome outcome)
{
    switch (outcome) {
        case MeasurementOutcome::correct:
        case MeasurementOutcome::abandoned: return "correct";
        case MeasurementOutcome::compile: return "compile";
        case MeasurementOutcome::resources: return "constraints";
        case MeasurementOutcome::wrong: return "correctness";
        case MeasurementOutcome::timeout: return "timeout";
        default: return "runtime";
    }
}

}  // namespace

std::string print_t4(std::span<const TuningRecord> records)
{
    Json results = Json::array();
    for (const auto& record : records) {
        const auto& measurement = record.measurement;
        Json configuration = {{"stage", record.point.stage}};
        for (const auto& [name, value] : record.point.configuration)
            configuration[name] = value;
        Json measurements = Json::array();
        if (measurement.milliseconds > 0)
            measurements.push_back({{"name", "time"}, {"value", measurement.milliseconds}, {"unit", "ms"}});
        results.push_back({{"timestamp", record.date},
                           {"configuration", std::move(configuration)},
                           {"objectives", {"time"}},
                           {"times",
                            {{"compilation", measurement.compile_milliseconds},
                             {"runtimes", measurement.samples},
                             {"framework", 0},
                             {"search_algorithm", 0},
                             {"validation", 0}}},
                           {"invalidity", invalidity(measurement.outcome)},
                           {"correctness", measurement.outcome == MeasurementOutcome::wrong ? 0 : 1},
                           {"measurements", std::move(measurements)}});
    }
    const Json document = {{"schema_version", "1.0.0"}, {"results", std::move(results)}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace segfold::tune
