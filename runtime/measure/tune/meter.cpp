#include "runtime/measure/tune/meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dsl/error.h"
#include "runtime/data/shape.h"
#include "runtime/measure/bench/agreement.h"
#include "runtime/measure/tune/shared_texts.h"
#include "runtime/session/choice/traffic.h"

namespace segfold::tune {
namespace {

constexpr int kScreeningRuns = 5;
constexpr int kMostSpilledBytes = 256;
constexpr double kHopeless = 2;

PlanMeasurement failure(MeasurementOutcome outcome, std::string reason)
{
    return {outcome, 0, {}, std::move(reason)};
}

/// Returns the reason why a plan's use of resources rules it out; empty if it does not.
std::string objection(const TimedPlan& plan)
{
    for (const auto& kernel : plan.kernels) {
        if (kernel.resident_blocks == 0 && kernel.grid > 0)
            return fmt::format(
                "no block of {} threads of {} fits a multiprocessor: {} registers a thread, {} "
                "bytes of shared memory",
                kernel.block_threads, kernel.kernel, kernel.registers, kernel.shared_bytes);
        if (kernel.spill_bytes > kMostSpilledBytes)
            return fmt::format("{} spills {} bytes a thread", kernel.kernel, kernel.spill_bytes);
    }
    return "";
}

}  // namespace

struct PlanMeter::State {
    State(Backend& backend, const Problem& asked, const Workload& data, const Catalogue& stages)
        : problem(asked),
          workload(data),
          catalogue(stages),
          timing(backend.timing()),
          ceiling(timing->read_ceiling()),
          placed((check_workload(data), timing->place(data, timing->load(borrowed(data.arrays))))),
          agreements(workload, *placed, {}, problem.laws.is_associative()),
          is_flushed(
              timing->fits_cache(compulsory_traffic(data.op, data.segments, data.num_features).total())),
          shared(asked, stages)
    {}

    /// Emits a plan's text. By default, tunables are constants, as in a run. In screening, they are arguments
    /// of the launch, which is slightly slower but lets many plans share a text.
    [[nodiscard]] Emitted text_of(const Point& point, Numbers numbers = Numbers::constant) const
    {
        return emit(problem, catalogue.stage(point.stage), point.configuration, catalogue, numbers);
    }

    /// Runs `work`. A failure of the GPU becomes the measurement's outcome.
    template <class Work>
    PlanMeasurement attempt(Work work)
    {
        try {
            return work();
        } catch (const DeviceError& error) {
            try {
                timing->synchronize();
            } catch (const Error&) {
                is_fit = false;
            }
            return failure(MeasurementOutcome::runtime, error.what());
        }
    }

    /// Fills the result arrays with a byte that is different for each call.
    void poison() { placed->poison_results(static_cast<std::uint8_t>(0xa1 + 3 * ++launches)); }

    /// Computes the results with which screening compares large workloads. Uses the plan of the rule of
    /// thumb, so that a wrong plan that happens to run first does not make right plans look wrong.
    void provide_expected()
    {
        if (is_expected_there)
            return;
        is_expected_there = true;
        const auto shape = shape_of(workload);
        const auto& stage = catalogue.rule_of_thumb(problem, shape);
        const Point point{stage.name, default_configuration(stage, plan_facts(problem, shape))};
        const auto emitted = text_of(point);
        const auto plan = timing->prepare(*placed, emitted);
        poison();
        (void)timing->once(plan.launch);
        (void)agreements.check("the rule of thumb", {});
    }

    PlanMeasurement measure(const Point& point, double best);

    const Problem& problem;
    const Workload& workload;
    const Catalogue& catalogue;
    std::unique_ptr<Timing> timing;
    ReadCeiling ceiling;
    std::unique_ptr<PlacedWorkload> placed;
    bench::Agreements agreements;
    std::optional<Judge> judge;
    bool is_flushed;
    bool is_fit = true;
    bool is_expected_there = false;
    int launches = 0;
    SharedTexts shared;
};

PlanMeasurement PlanMeter::State::measure(const Point& point, double best)
{
    double compile_milliseconds = 0;
    try {
        compile_milliseconds = timing->compile(shared.of(point)) * kMillisecondsPerSecond;
    } catch (const Error& error) {
        return failure(MeasurementOutcome::compile, error.what());
    }
    TimedPlan plan;
    const auto emitted = text_of(point, Numbers::at_launch);
    try {
        plan = timing->prepare(*placed, emitted);
    } catch (const DeviceError& error) {
        timing->synchronize();  // throws if the device itself has failed
        return failure(MeasurementOutcome::resources, error.what());
    }
    if (auto why = objection(plan); !why.empty())
        return failure(MeasurementOutcome::resources, std::move(why));
    provide_expected();
    const auto& launch = plan.launch;
    poison();
    (void)timing->once(launch);  // the first launch loads the code
    const auto agreement = agreements.check(print(point), {});
    if (!agreement.agrees)
        return failure(MeasurementOutcome::wrong, agreement.text);
    const double first = timing->once(launch);
    PlanMeasurement measurement{MeasurementOutcome::correct, first, {first}, "", compile_milliseconds};
    if (first > kHopeless * best) {
        measurement.outcome = MeasurementOutcome::abandoned;
        measurement.reason =
            fmt::format("one run took {:.3g} ms, {:.1f} times the best", first, first / best);
        return measurement;
    }
    measurement.samples = timing->time(launch, 1, kScreeningRuns, is_flushed);
    measurement.milliseconds = quartiles(measurement.samples).median;
    return measurement;
}

PlanMeter::PlanMeter(Backend& backend, const Problem& problem, const Workload& workload,
                     const Catalogue& catalogue)
    : state_(std::make_unique<State>(backend, problem, workload, catalogue))
{}

PlanMeter::~PlanMeter() = default;

PlanMeasurement PlanMeter::evaluate(const Point& point, double best)
{
    return state_->attempt([&] { return state_->measure(point, best); });
}

void PlanMeter::expect(std::span<const Point> points)
{
    std::vector<Emitted> texts;
    for (const auto& point : points)
        try {
            texts.push_back(state_->shared.of(point));
        } catch (const Error&) {
            // The failure is reported when the point is measured.
        }
    state_->timing->expect(texts);
}

std::vector<std::vector<double>> PlanMeter::rank(std::span<const Point> points, int rounds)
{
    auto& state = *state_;
    auto& timing = *state.timing;
    std::vector<TimedLaunch> launches(points.size());  // an entry is empty if the plan cannot run
    std::vector<std::vector<double>> samples(points.size());
    std::vector<Emitted> texts;
    for (const auto& point : points)
        texts.push_back(state.text_of(point));
    timing.expect({});  // cancels the compilation of expected plans, which are no longer needed
    timing.compile_each(texts);
    for (std::size_t i = 0; i < points.size(); ++i)
        try {
            auto plan = timing.prepare(*state.placed, texts[i]);
            if (objection(plan).empty())
                launches[i] = std::move(plan.launch);
        } catch (const DeviceError&) {
            timing.synchronize();  // drops this plan; throws if the device is lost
        }
    // The first round warms up and is not kept.
    for (int round = -1; round < rounds; ++round)
        for (std::size_t i = 0; i < launches.size(); ++i) {
            if (!launches[i])
                continue;
            const auto time = timing.time(launches[i], 0, 1, state.is_flushed);
            if (round >= 0)
                samples[i].push_back(time.front());
        }
    return samples;
}

PlanMeasurement PlanMeter::validate(const Point& point)
{
    auto& state = *state_;
    return state.attempt([&]() -> PlanMeasurement {
        const auto emitted = state.text_of(point);
        const auto plan = state.timing->prepare(*state.placed, emitted);
        if (!state.judge)
            state.judge.emplace(state.workload,
                                JudgeOptions{.is_associative = state.problem.laws.is_associative()});
        state.poison();
        plan.launch();
        state.timing->wait();
        const auto comparison = state.judge->compare(state.placed->results());
        if (!comparison.agrees())
            return failure(MeasurementOutcome::wrong, print(comparison));
        PlanMeasurement right;
        right.reason = unsaid_in_brief(comparison);
        return right;
    });
}

bool PlanMeter::is_fit() const { return state_->is_fit; }

double PlanMeter::ceiling() const { return state_->ceiling.bytes_per_second; }

TimingFacts PlanMeter::facts() const { return state_->timing->facts(); }

}  // namespace segfold::tune
