#include "runtime/measure/tune/worker.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/support/json_value.h"

namespace segfold::tune {
namespace {

constexpr double kSecondsToStart = 600;
constexpr int kRounds = 21;  ///< number of rounds if a ranking request gives none

Json message_json(const Point& point)
{
    Json configuration = Json::object();
    for (const auto& [name, value] : point.configuration)
        configuration[name] = value;
    return {{"stage", point.stage}, {"configuration", std::move(configuration)}};
}

Point point_of(const JsonValue& value)
{
    Point point{value.at("stage").text(), {}};
    for (const auto& [name, chosen] : value.at("configuration").members())
        point.configuration[name] = chosen.small();
    return point;
}

Json message_json(std::span<const Point> points)
{
    Json list = Json::array();
    for (const auto& point : points)
        list.push_back(message_json(point));
    return list;
}

std::vector<Point> points_of(const JsonValue& list)
{
    std::vector<Point> points;
    for (const auto& point : list.elements())
        points.push_back(point_of(point));
    return points;
}

std::vector<double> numbers_of(const JsonValue& list)
{
    std::vector<double> numbers;
    for (const auto& number : list.elements())
        numbers.push_back(number.number());
    return numbers;
}

Json message_json(const PlanMeasurement& measurement)
{
    return {{"outcome", name(measurement.outcome)},
            {"milliseconds", measurement.milliseconds},
            {"samples", measurement.samples},
            {"reason", measurement.reason},
            {"compile_milliseconds", measurement.compile_milliseconds}};
}

PlanMeasurement answered_evaluation(const JsonValue& answer)
{
    return {outcome_of(answer.at("outcome")), answer.at("milliseconds").number(),
            numbers_of(answer.at("samples")), answer.at("reason").text(),
            answer.at("compile_milliseconds").number()};
}

std::vector<std::vector<double>> answered_samples(const JsonValue& answer)
{
    std::vector<std::vector<double>> samples;
    for (const auto& of_plan : answer.at("samples").elements())
        samples.push_back(numbers_of(of_plan));
    return samples;
}

/// Parses a worker's answer with `read`. Throws InternalError if the answer is malformed.
template <class Read>
auto read_answer(const std::string& answer, Read read)
{
    try {
        const auto document = read_json("answer", answer);
        return read(JsonValue("answer", document));
    } catch (const InputError& error) {
        throw InternalError(fmt::format("a worker answers '{}': {}", answer.substr(0, 80), error.what()));
    }
}

std::string line_of(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

WorkerEvaluator::WorkerEvaluator(std::vector<std::string> program, double seconds)
    : program_(std::move(program)), seconds_(seconds)
{}

WorkerEvaluator::~WorkerEvaluator() = default;

const std::string& WorkerEvaluator::greeting()
{
    if (!process_)
        start();
    return greeting_;
}

void WorkerEvaluator::start()
{
    process_.emplace(program_);
    ++starts_;
    if (process_->receive(greeting_, kSecondsToStart) != Coprocess::Wait::answered)
        throw DeviceError(fmt::format("the worker {} before it was ready", stop()));
    const auto refusal = read_answer(greeting_, [](const JsonValue& greeting) {
        const auto error = greeting.find("error");
        const auto exit_code = greeting.find("exit_code");
        return std::pair(error ? error->text() : "", exit_code ? exit_code->small() : 0);
    });
    if (refusal.first.empty())
        return;
    stop();
    if (refusal.second == 2)
        throw InputError(refusal.first);
    throw DeviceError(refusal.first);
}

std::string WorkerEvaluator::stop()
{
    auto how = process_->stop();
    process_.reset();
    return how;
}

PlanMeasurement WorkerEvaluator::ask(const std::string& request, double seconds, std::string& answer)
{
    if (!process_)
        start();
    if (!process_->send(request)) {
        // The program ended after its previous answer, so nothing of this request has run yet.
        stop();
        start();
        if (!process_->send(request))
            throw DeviceError(fmt::format("the worker {} when it was asked", stop()));
    }
    switch (process_->receive(answer, seconds)) {
        case Coprocess::Wait::answered: return {};
        case Coprocess::Wait::late:
            process_->kill();
            stop();
            return {MeasurementOutcome::timeout, 0, {}, fmt::format("no answer within {:.3g} s", seconds)};
        default: return {MeasurementOutcome::runtime, 0, {}, fmt::format("its process {}", stop())};
    }
}

PlanMeasurement WorkerEvaluator::evaluate(const Point& point, double best)
{
    Json request = {{"evaluate", message_json(point)}};
    if (std::isfinite(best))
        request["best"] = best;
    std::string answer;
    auto failed = ask(line_of(request), seconds_, answer);
    if (failed.outcome != MeasurementOutcome::correct)
        return failed;
    auto measurement = read_answer(answer, answered_evaluation);
    const auto is_last = [](const JsonValue& given) {
        const auto last = given.find("last");
        return last && last->truth();
    };
    if (read_answer(answer, is_last))
        stop();
    return measurement;
}

void WorkerEvaluator::expect(std::span<const Point> points)
{
    if (process_)
        (void)process_->send(line_of({{"expect", message_json(points)}}));
}

std::vector<std::vector<double>> WorkerEvaluator::rank(std::span<const Point> points, int rounds)
{
    std::string answer;
    const auto failed = ask(line_of({{"rank", message_json(points)}, {"rounds", rounds}}),
                            static_cast<double>(points.size() + 1) * seconds_, answer);
    if (failed.outcome != MeasurementOutcome::correct)
        throw DeviceError("the ranking of the best failed: " + failed.reason);
    auto samples = read_answer(answer, answered_samples);
    if (samples.size() != points.size())
        throw InternalError(fmt::format("a worker ranks {} plans of {}", samples.size(), points.size()));
    return samples;
}

PlanMeasurement WorkerEvaluator::validate(const Point& point)
{
    std::string answer;
    auto failed = ask(line_of({{"validate", message_json(point)}}), 30 * seconds_, answer);
    return failed.outcome == MeasurementOutcome::correct ? read_answer(answer, answered_evaluation) : failed;
}

void serve(Evaluator& evaluator, const std::string& greeting, std::istream& in,
           const std::function<void(std::string_view)>& write, const std::function<bool()>& is_fit)
{
    write(greeting + "\n");
    for (std::string line; std::getline(in, line);) {
        Json document;
        try {
            document = parse_json("--worker", line);
        } catch (const Json::exception&) {
            throw InputError("--worker: '" + line.substr(0, 60) + "' is no request; tune itself writes them");
        }
        const JsonValue request("--worker: request", document);
        if (const auto points = request.find("expect")) {
            evaluator.expect(points_of(*points));
            continue;
        }
        if (const auto point = request.find("evaluate")) {
            const auto best = request.find("best");
            auto answer =
                message_json(evaluator.evaluate(point_of(*point), best ? best->number() : HUGE_VAL));
            if (!is_fit())
                // Otherwise the end of the program would be attributed to the next plan.
                answer["last"] = true;
            write(line_of(answer));
        } else if (const auto points = request.find("rank")) {
            const auto rounds = request.find("rounds");
            write(line_of(
                {{"samples", evaluator.rank(points_of(*points), rounds ? rounds->small() : kRounds)}}));
        } else if (const auto checked = request.find("validate"))
            write(line_of(message_json(evaluator.validate(point_of(*checked)))));
        else
            throw InputError("--worker: a request asks to evaluate, expect, rank or validate");
        if (!is_fit())
            return;
    }
}

std::string refusal_line(std::string_view message, int exit_code)
{
    return line_of({{"error", message}, {"exit_code", exit_code}});
}

}  // namespace segfold::tune
