#include "runtime/measure/tune/kept_tuning.h"

#include <algorithm>

#include "dsl/error.h"
#include "runtime/measure/tune/known_trials.h"
#include "runtime/measure/tune/tune_workload.h"

namespace segfold::tune {

std::string require_record_folder()
{
    auto folder = record_folder();
    if (folder.empty())
        throw InputError(
            "nowhere to keep records: none of SEGFOLD_TUNING_DIR, XDG_DATA_HOME and HOME names a "
            "folder; set SEGFOLD_TUNING_DIR to one");
    return folder;
}

KeptTuning::KeptTuning(TuningRecord blank, const Problem& problem, const Catalogue& catalogue)
    : blank_(std::move(blank)),
      question_{blank_.device, problem, blank_.shape, catalogue},
      store_(RecordStore::open(record_folder())),
      lookup_(look_up(store_, question_)),
      space_(SearchSpace::of(problem, question_.shape, catalogue)),
      incumbent_(lookup_.point ? space_.find(*lookup_.point) : std::nullopt),
      known_(known_trials(store_, question_, space_))
{
    if (!incumbent_)
        incumbent_ = space_.starts().front();
}

void KeptTuning::keep(RecordFile& file, std::size_t place, TuningPhase phase,
                      const PlanMeasurement& measurement)
{
    auto record = blank_;
    record.point = space_[place];
    record.stage_hash = stage_hash(question_.catalogue.stage(record.point.stage), question_.catalogue);
    record.phase = phase;
    record.measurement = measurement;
    record.date = time_stamp();
    file.append(record);
    rows_.push_back(std::move(record));
}

Contest KeptTuning::run(Evaluator& evaluator, const Limits& limits, const ContestListener& listener)
{
    RecordFile file(record_path(require_record_folder(), question_.device));
    path_ = file.path();
    ContestOptions options;
    options.search.strategy = limits.strategy;
    options.search.evaluations = limits.evaluations;
    options.search.known = known_;
    options.search.seeds = {*incumbent_};
    for (const auto& seed : lookup_.seeds)
        if (const auto place = space_.find(seed))
            options.search.seeds.push_back(*place);
    options.finalists = limits.finalists;
    auto told = listener;
    told.search.measured = [&](const Trial& trial) {
        keep(file, trial.place, TuningPhase::screened, trial.measurement);
        if (listener.search.measured)
            listener.search.measured(trial);
    };
    told.ranked = [&](const Finalist& finalist) {
        keep(file, finalist.place, TuningPhase::ranked, finalist.measurement);
        if (listener.ranked)
            listener.ranked(finalist);
    };
    auto contest = tune(space_, evaluator, incumbent_, options, told);
    if (contest.winner) {
        const auto winner = std::ranges::find(contest.finalists, *contest.winner, &Finalist::place);
        keep(file, winner->place, limits.is_pinned ? TuningPhase::pinned : TuningPhase::chosen,
             winner->measurement);
    }
    return contest;
}

}  // namespace segfold::tune
