#include "runtime/measure/tune/tune_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/data/shape.h"
#include "runtime/judge/table_check.h"
#include "runtime/measure/tune/kept_tuning.h"
#include "runtime/measure/tune/meter.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/choice/traffic.h"
#include "runtime/session/core.h"

namespace segfold {

namespace tune {

TuningRecord record_of(const DeviceIdentity& device, const TimingFacts& facts, const Problem& problem,
                       const Workload& workload, const std::string& layout)
{
    auto record = blank_record(
        device, problem, shape_of(workload),
        compulsory_traffic(problem.op, workload.segments, workload.num_features, problem.form).total());
    record.driver = facts.driver;
    record.compiler = facts.compiler;
    record.layout = layout;
    return record;
}

}  // namespace tune

Tuned tune_workload(Session& session, const Operator& op, std::span<const ArrayView> inputs,
                    const SegmentsView& segments, const TuneOptions& options)
{
    if (!(options.seconds > 0))
        throw InputError(fmt::format("seconds is {}; a tuning takes more than 0", options.seconds));
    if (options.evaluations < 1)
        throw InputError(
            fmt::format("evaluations is {}; a tuning measures 1 plan or more", options.evaluations));
    auto& backend = core(session).backend();
    (void)tune::require_record_folder();  // throws before anything is measured
    const auto workload = borrow_workload(op, inputs, segments);
    check_workload(workload);
    check_tables(workload);  // checked here, because otherwise every plan would fail
    const auto laws = core(session).laws(workload);
    require_sound_identity(laws, op);
    auto problem = make_problem(workload, laws);
    problem.target = backend.target();
    tune::PlanMeter meter(backend, problem, workload, core(session).catalogue());
    tune::KeptTuning tuning(
        tune::record_of(backend.identity().value_or(DeviceIdentity()), meter.facts(), problem, workload, ""),
        problem, core(session).catalogue());
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Tuned tuned;
    tune::ContestListener listener;
    listener.search.measured = [&](const tune::Trial& trial) {
        ++tuned.measured;
        if (!meter.is_fit())
            throw DeviceError("a plan has made the device refuse further work: " +
                              print(tuning.space()[trial.place]) + ": " + trial.measurement.reason);
    };
    listener.search.stops = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count() > options.seconds;
    };
    const auto found =
        tuning.run(meter, {.evaluations = static_cast<std::size_t>(options.evaluations)}, listener);
    tuned.file = tuning.path();
    tuned.reason = found.reason;
    if (!found.winner)
        return tuned;
    const auto winner = std::ranges::find(found.finalists, *found.winner, &tune::Finalist::place);
    tuned.winner = print(tuning.space()[*found.winner]);
    tuned.milliseconds = winner->measurement.milliseconds;
    session.forget_records();
    return tuned;
}

}  // namespace segfold
