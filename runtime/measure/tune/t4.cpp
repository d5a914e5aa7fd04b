#include "runtime/measure/tune/t4.h"

#include <nlohmann/json.hpp>

namespace segfold::tune {
namespace {

using Json = nlohmann::ordered_json;

/// Returns T4's name for an outcome.
std::string_view invalidity(Outcome outcome)
{
    switch (outcome) {
        case Outcome::correct:
        case Outcome::abandoned: return "correct";
        case Outcome::compile: return "compile";
        case Outcome::resources: return "constraints";
        case Outcome::wrong: return "correctness";
        case Outcome::timeout: return "timeout";
        default: return "runtime";
    }
}

}  // namespace

std::string print_t4(std::span<const Record> records)
{
    Json results = Json::array();
    for (const auto& record : records) {
        const auto& evaluation = record.evaluation;
        Json configuration = {{"stage", record.point.stage}};
        for (const auto& [name, value] : record.point.configuration)
            configuration[name] = value;
        Json measurements = Json::array();
        if (evaluation.milliseconds > 0)
            measurements.push_back({{"name", "time"}, {"value", evaluation.milliseconds}, {"unit", "ms"}});
        results.push_back({{"timestamp", record.date},
                           {"configuration", std::move(configuration)},
                           {"objectives", {"time"}},
                           {"times",
                            {{"compilation", evaluation.compile_milliseconds},
                             {"runtimes", evaluation.samples},
                             {"framework", 0},
                             {"search_algorithm", 0},
                             {"validation", 0}}},
                           {"invalidity", invalidity(evaluation.outcome)},
                           {"correctness", evaluation.outcome == Outcome::wrong ? 0 : 1},
                           {"measurements", std::move(measurements)}});
    }
    const Json document = {{"schema_version", "1.0.0"}, {"results", std::move(results)}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace segfold::tune
