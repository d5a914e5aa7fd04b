// A fold that measures. It runs the best-ranked stages on its data and returns the results of the fastest.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dsl/error.h"
#include "runtime/data/shape.h"
#include "runtime/session/core.h"

namespace segfold {
namespace {

/// A stage in the comparison, with the measurement of its runs.
struct Contender {
    std::optional<Chosen> chosen;  ///< empty if the stage cannot serve
    SpotTrial trial;
    RunTimes times = {};  ///< times of the fastest run; compile_seconds of the first run

    void fail(MeasurementOutcome outcome, const Error& error)
    {
        trial.measurement = {outcome, 0, {}, error.what()};
    }
    [[nodiscard]] bool runs() const { return trial.measurement.outcome == MeasurementOutcome::correct; }
};

bool has_equal_bytes(const Array& one, const Array& other)
{
    return one.bytes() == other.bytes() &&
           (one.bytes() == 0 || std::memcmp(one.data(), other.data(), one.bytes()) == 0);
}

bool same_results(const Results& one, const Results& other)
{
    return std::ranges::equal(one, other, [](const NamedArray& a, const NamedArray& b) {
        return has_equal_bytes(a.array, b.array);
    });
}

}  // namespace

FoldRun SessionCore::fold_measured(const Workload& workload, const FoldWishes& wishes)
{
    const auto laws = this->laws(workload);
    auto first = choose(workload, wishes.plan, wishes.without_records);
    if (wishes.on_choice)
        wishes.on_choice(first);
    const auto problem = problem_of(workload, laws);
    const auto shape = shape_of(workload);
    const auto sources = chooser(workload.op, wishes.plan, wishes.without_records);
    const auto& stages = *sources.catalogue;
    const auto points =
        spot_candidates({first.plan->stage->name, first.plan->emitted.configuration},
                        plan_facts(problem, shape), problem, stages, wishes.plan.measured_stages);
    // Returns the choice of a compared stage, with the measurement as its source.
    const auto named = [&](const Point& point, PlanSource source) {
        if (point == points.front())
            return first;
        auto request = wishes.plan;
        request.stage = point.stage;
        auto chosen = choose(workload, request, wishes.without_records);
        chosen.plan->is_asked = false;
        chosen.plan->source = source;
        chosen.explanation.lookup = first.explanation.lookup;
        return chosen;
    };
    FoldRun run;
    if (sources.spots)
        if (const auto known = sources.spots->fastest(sources.question(problem, shape), points)) {
            run.chosen = named(*known, PlanSource::spot_record);
            run.chosen.plan->source = PlanSource::spot_record;
            run.chosen.explanation.taken =
                fmt::format("{}, {}", run.chosen.plan->text(), run.chosen.plan->chosen_by());
            run.results = this->run(workload, run.chosen.text(), &run.times);
            return run;
        }

    std::vector<Contender> contenders;
    for (const auto& point : points) {
        auto& one = contenders.emplace_back();
        one.trial.point = point;
        try {
            one.chosen = named(point, PlanSource::measured_here);
        } catch (const DeviceError& error) {
            one.fail(MeasurementOutcome::resources, error);
        }
    }
    const auto backend = running();
    std::vector<Emitted> texts;
    for (const auto& one : contenders)
        if (one.chosen)
            texts.push_back(*one.chosen->text());
    backend->compile_all(texts);
    const bool are_compared = gives_same_bits(workload.op, laws);
    std::optional<std::size_t> best, expected;
    Results of_expected;
    const auto time_of = [](const RunTimes& times) {
        const auto seconds = times.kernel_seconds.value_or(times.seconds - times.compile_seconds.value_or(0));
        return std::max(seconds * 1e3, kLeastMilliseconds);
    };
    constexpr int kRounds = 4;
    constexpr double kMostSeconds = 0.5;  // no further round begins after this time, but at least one ends
    double seconds = 0;
    for (int round = -1; round < kRounds && (round <= 0 || seconds < kMostSeconds); ++round)
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            auto& one = contenders[i];
            if (!one.runs())
                continue;
            RunTimes times;
            Results results;
            try {
                results = this->run(workload, one.chosen->text(), &times);
            } catch (const DeviceError& error) {
                if (i == 0)
                    throw;  // an ordinary fold would throw it too
                one.fail(MeasurementOutcome::runtime, error);
                continue;
            }
            seconds += times.seconds;
            auto& measurement = one.trial.measurement;
            if (round < 0) {  // the first round compiles, loads and touches memory
                one.times = times;
                measurement.compile_milliseconds = times.compile_seconds.value_or(0) * 1e3;
            } else {
                measurement.samples.push_back(time_of(times));
                if (measurement.milliseconds == 0 || measurement.samples.back() < measurement.milliseconds) {
                    measurement.milliseconds = measurement.samples.back();
                    one.times.kernel_seconds = times.kernel_seconds;
                    one.times.seconds = times.seconds;
                }
            }
            if (!expected) {
                expected = i;
                of_expected = std::move(results);
            } else if (are_compared && !same_results(results, of_expected)) {
                throw InternalError(fmt::format("stages {} and {} give different results of {}",
                                                contenders[*expected].trial.point.stage,
                                                one.trial.point.stage, workload.op.name));
            }
        }
    std::vector<SpotTrial> trials;
    for (const auto& one : contenders)
        trials.push_back(one.trial);
    best = fastest_of(trials);
    auto& taken = contenders[best.value_or(0)];
    if (sources.spots)
        sources.spots->keep(sources.question(problem, shape), first.explanation.traffic.total(), trials);
    run.chosen = *std::move(taken.chosen);
    run.chosen.plan->source = PlanSource::measured_here;
    run.chosen.explanation.taken = measured_text(taken.trial.point, trials);
    run.times = taken.times;
    if (are_compared || taken.trial.point == contenders[*expected].trial.point) {
        run.results = std::move(of_expected);
    } else {
        run.results = this->run(workload, run.chosen.text());
    }
    return run;
}

}  // namespace segfold
