#include "runtime/tune/tune_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/data/shape.h"
#include "runtime/judge/table_check.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice.h"
#include "runtime/session/record_store.h"
#include "runtime/session/traffic.h"
#include "runtime/tune/known_trials.h"
#include "runtime/tune/meter.h"
#include "runtime/tune/session.h"

namespace segfold {

namespace tune {

Record record_of(const cuda::DeviceInfo& info, const Problem& problem, const Workload& workload,
                 const std::string& layout)
{
    Record record;
    record.device = identity_of(info);
    record.driver = cuda::version_text(info.driver_version);
    record.compiler = "NVRTC " + cuda::nvrtc().version();
    record.op = problem.op.name;
    record.op_hash = operator_hash(problem.op);
    record.problem = class_of(problem);
    record.layout = layout;
    record.shape = shape_of(workload.segments);
    record.evaluation.outcome = Outcome::runtime;  // nothing has been measured
    record.bytes = compulsory_traffic(problem.op, workload.segments).total();
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

}  // namespace tune

Tuned tune_workload(Session& session, const Operator& op, std::span<const ArrayView> inputs,
                    const SegmentsView& segments, const TuneOptions& options)
{
    auto& backend = session.backend();
    const auto* context = backend.context();
    if (context == nullptr)
        throw DeviceError("tuning measures on a GPU, and the session's back end is " +
                          std::string(backend.name()));
    const auto folder = tune::record_folder();
    if (folder.empty())
        throw InputError(
            "nowhere to keep records: neither SEGFOLD_TUNING_DIR, XDG_DATA_HOME nor HOME is set; set "
            "SEGFOLD_TUNING_DIR to a folder");
    const auto workload = borrow_workload(op, inputs, segments);
    check_workload(workload);
    check_tables(workload);  // before many plans that would all be refused
    const auto laws = on_data(session.laws(op), workload);
    require_sound_identity(laws, op, false);
    auto problem = make_problem(workload, laws);
    problem.target = backend.target();
    const auto& catalogue = session.catalogue();
    const auto shape = shape_of(workload.segments);
    const tune::Question question{tune::identity_of(context->info()), problem, shape, catalogue};
    const auto store = tune::RecordStore::open(folder);
    const auto lookup = tune::look_up(store, question);
    const auto space = tune::SearchSpace::of(problem, shape, catalogue);
    auto incumbent = lookup.point ? space.find(*lookup.point) : std::nullopt;
    if (!incumbent)
        incumbent = space.starts().front();

    tune::RecordFile file(tune::record_path(folder, question.device));
    const auto blank = tune::record_of(context->info(), problem, workload, "");
    const auto keep = [&](std::size_t place, tune::Phase phase, const tune::Evaluation& evaluation) {
        auto record = blank;
        record.point = space[place];
        record.stage_hash = tune::stage_hash(catalogue.stage(record.point.stage), catalogue);
        record.phase = phase;
        record.evaluation = evaluation;
        record.date = tune::time_stamp();
        file.append(record);
    };
    tune::SessionOptions how;
    how.search.evaluations = options.evaluations;
    how.search.known = tune::known_trials(store, question, space);
    how.search.seeds = {*incumbent};
    for (const auto& seed : lookup.seeds)
        if (const auto place = space.find(seed))
            how.search.seeds.push_back(*place);
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Tuned tuned;
    tuned.file = file.path();
    tune::PlanMeter meter(*context, problem, workload, catalogue);
    tune::SessionListener listener;
    listener.search.measured = [&](const tune::Trial& trial) {
        keep(trial.place, tune::Phase::screened, trial.evaluation);
        ++tuned.measured;
        if (!meter.is_fit())
            throw DeviceError("a plan has made the GPU refuse further work: " + print(space[trial.place]) +
                              ": " + trial.evaluation.reason);
    };
    listener.search.stops = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count() > options.seconds;
    };
    listener.ranked = [&](const tune::Finalist& finalist) {
        keep(finalist.place, tune::Phase::ranked, finalist.evaluation);
    };
    const auto found = tune::tune(space, meter, incumbent, how, listener);
    tuned.reason = found.reason;
    if (!found.winner)
        return tuned;
    const auto winner = std::ranges::find(found.finalists, *found.winner, &tune::Finalist::place);
    keep(*found.winner, tune::Phase::chosen, winner->evaluation);
    tuned.winner = print(space[*found.winner]);
    tuned.milliseconds = winner->evaluation.milliseconds;
    session.forget_records();
    return tuned;
}

}  // namespace segfold
