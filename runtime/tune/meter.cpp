#include "runtime/tune/meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dsl/error.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/bench/agreement.h"
#include "runtime/bench/stopwatch.h"
#include "runtime/data/shape.h"
#include "runtime/session/traffic.h"
#include "runtime/tune/ahead.h"
#include "runtime/tune/shared_texts.h"

namespace segfold::tune {
namespace {

constexpr int kScreeningRuns = 5;
constexpr int kMostSpilledBytes = 256;
constexpr double kHopeless = 2;

Evaluation failure(Outcome outcome, std::string reason) { return {outcome, 0, {}, std::move(reason)}; }

/// Why the report of a loaded plan rules it out; empty where it does not.
std::string objection(const cuda::LoadedPlan& plan)
{
    for (const auto& kernel : plan.kernels()) {
        if (kernel.resident_blocks == 0 && kernel.grid > 0)
            return fmt::format(
                "no block of {} threads of {} fits a multiprocessor: {} registers a thread, {} "
                "bytes of shared memory",
                kernel.block_threads, kernel.resources.kernel, kernel.resources.registers,
                kernel.resources.static_shared_bytes + kernel.dynamic_shared_bytes);
        const int spilled = kernel.resources.spill_store_bytes + kernel.resources.spill_load_bytes;
        if (spilled > kMostSpilledBytes)
            return fmt::format("{} spills {} bytes a thread", kernel.resources.kernel, spilled);
    }
    return "";
}

}  // namespace

struct PlanMeter::State {
    State(const cuda::Context& used_context, const Problem& asked, const Workload& data,
          const Catalogue& stages)
        : context(used_context),
          problem(asked),
          workload(data),
          catalogue(stages),
          stopwatch(used_context),
          ceiling(stopwatch.read_ceiling()),
          resident(context, data),
          agreements(used_context, stopwatch.stream(), workload, resident),
          is_flushed(stopwatch.fits_cache(compulsory_traffic(data.op, data.segments).total())),
          shared(asked, stages,
                 [this](const Emitted& emitted, const std::string& stage) {
                     return cuda::variant_of(context.info(), emitted, stage);
                 }),
          ahead(compiled)
    {}

    /// As it will run. Plans are screened with their numbers said by the launch instead: a little slower, but
    /// many share a text.
    [[nodiscard]] Emitted text_of(const Point& point, Numbers numbers = Numbers::constant) const
    {
        return emit(problem, catalogue.stage(point.stage), point.configuration, catalogue, numbers);
    }

    /// Runs `work`; a failure of the GPU becomes an outcome.
    template <class Work>
    Evaluation attempt(Work work)
    {
        try {
            return work();
        } catch (const DeviceError& error) {
            try {
                context.synchronize();
            } catch (const Error&) {
                is_fit = false;
            }
            return failure(Outcome::runtime, error.what());
        }
    }

    /// Never twice the same byte in a row.
    void poison() { resident.poison_results(static_cast<std::uint8_t>(0xa1 + 3 * ++launches)); }

    /// Gives the results that those of large workloads are held against while plans are screened: those of
    /// the rule of thumb, so that no wrong plan that happens to come first makes right ones look wrong.
    void provide_expected()
    {
        if (is_expected_there)
            return;
        is_expected_there = true;
        const auto shape = shape_of(workload.segments);
        const auto& stage = catalogue.rule_of_thumb(problem, shape);
        const Point point{stage.name, default_configuration(stage, plan_facts(problem, shape))};
        const cuda::LoadedPlan plan(context, resident, text_of(point), stage.name, &compiled);
        poison();
        (void)stopwatch.once([&] { plan.launch(stopwatch.stream()); });
        (void)agreements.check("the rule of thumb", {}, nullptr);
    }

    Evaluation measure(const Point& point, double best);

    cuda::Context context;
    const Problem& problem;
    const Workload& workload;
    const Catalogue& catalogue;
    bench::Stopwatch stopwatch;
    bench::ReadCeiling ceiling;
    cuda::ResidentWorkload resident;
    bench::Agreements agreements;
    std::optional<Judge> judge;
    bool is_flushed;
    bool is_fit = true;
    bool is_expected_there = false;
    int launches = 0;
    SharedTexts shared;
    cuda::CompileCache compiled;
    Ahead ahead;
};

Evaluation PlanMeter::State::measure(const Point& point, double best)
{
    double compile_milliseconds = 0;
    try {
        const auto& request = shared.of(point).request;
        compile_milliseconds = compiled.get(request)->seconds * bench::kMillisecondsPerSecond;
    } catch (const Error& error) {
        return failure(Outcome::compile, error.what());
    }
    std::optional<cuda::LoadedPlan> plan;
    try {
        plan.emplace(context, resident, text_of(point, Numbers::at_launch), point.stage, &compiled);
    } catch (const DeviceError& error) {
        context.synchronize();  // throws where more is wrong than this plan
        return failure(Outcome::resources, error.what());
    }
    if (auto why = objection(*plan); !why.empty())
        return failure(Outcome::resources, std::move(why));
    provide_expected();
    auto& stream = stopwatch.stream();
    const auto launch = [&] { plan->launch(stream); };
    poison();
    (void)stopwatch.once(launch);  // loads the code
    const auto agreement = agreements.check(print(point), {}, nullptr);
    if (!agreement.agrees)
        return failure(Outcome::wrong, agreement.text);
    const double first = stopwatch.once(launch);
    Evaluation evaluation{Outcome::correct, first, {first}, "", compile_milliseconds};
    if (first > kHopeless * best) {
        evaluation.outcome = Outcome::abandoned;
        evaluation.reason = fmt::format("one run took {:.3g} ms, {:.1f} times the best", first, first / best);
        return evaluation;
    }
    evaluation.samples = stopwatch.time(launch, 1, kScreeningRuns, is_flushed);
    evaluation.milliseconds = quartiles(evaluation.samples).median;
    return evaluation;
}

PlanMeter::PlanMeter(const cuda::Context& context, const Problem& problem, const Workload& workload,
                     const Catalogue& catalogue)
    : state_(std::make_unique<State>(context, problem, workload, catalogue))
{}

PlanMeter::~PlanMeter() = default;

Evaluation PlanMeter::evaluate(const Point& point, double best)
{
    return state_->attempt([&] { return state_->measure(point, best); });
}

void PlanMeter::expect(std::span<const Point> points)
{
    std::vector<cuda::Variant> variants;
    for (const auto& point : points)
        try {
            variants.push_back(state_->shared.of(point));
        } catch (const Error&) {
            // Whoever measures the point is told.
        }
    state_->ahead.add(std::move(variants));
}

std::vector<std::vector<double>> PlanMeter::rank(std::span<const Point> points, int rounds)
{
    auto& state = *state_;
    std::vector<std::optional<cuda::LoadedPlan>> plans(points.size());
    std::vector<std::vector<double>> samples(points.size());
    std::vector<cuda::CompileRequest> requests;
    for (const auto& point : points)
        requests.push_back(cuda::variant_of(state.context.info(), state.text_of(point), point.stage).request);
    state.ahead.add({});  // what was expected is of no use any more
    state.compiled.prepare_each(requests);
    for (std::size_t i = 0; i < points.size(); ++i)
        try {
            plans[i].emplace(state.context, state.resident, state.text_of(points[i]), points[i].stage,
                             &state.compiled);
            if (!objection(*plans[i]).empty())
                plans[i].reset();
        } catch (const DeviceError&) {
            state.context.synchronize();  // one plan less, unless the GPU is lost
        }
    // The first round warms up and is not kept.
    for (int round = -1; round < rounds; ++round)
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (!plans[i])
                continue;
            const auto time = state.stopwatch.time([&] { plans[i]->launch(state.stopwatch.stream()); }, 0, 1,
                                                   state.is_flushed);
            if (round >= 0)
                samples[i].push_back(time.front());
        }
    return samples;
}

Evaluation PlanMeter::validate(const Point& point)
{
    auto& state = *state_;
    return state.attempt([&]() -> Evaluation {
        const cuda::LoadedPlan plan(state.context, state.resident, state.text_of(point), point.stage,
                                    &state.compiled);
        if (!state.judge)
            state.judge.emplace(state.workload);
        state.poison();
        plan.launch(state.stopwatch.stream());
        state.stopwatch.stream().synchronize();
        const auto comparison = state.judge->compare(state.resident.results());
        if (!comparison.agrees())
            return failure(Outcome::wrong, print(comparison));
        return {};
    });
}

bool PlanMeter::is_fit() const { return state_->is_fit; }

double PlanMeter::ceiling() const { return state_->ceiling.bytes_per_second; }

}  // namespace segfold::tune
