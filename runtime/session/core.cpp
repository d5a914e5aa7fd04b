#include "runtime/session/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dsl/check/rows.h"
#include "dsl/check/warnings.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/shape.h"
#include "runtime/judge/compare.h"
#include "runtime/laws/prove/verdict_cache.h"
#include "runtime/session/apart.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/deliver.h"
#include "runtime/session/grouped/grouped_inputs.h"
#include "runtime/session/plan_state.h"
#include "runtime/support/text_table.h"

namespace segfold {

namespace {

/// Returns the reason to use no tuning records; empty if records may be used.
std::string reason_without_records(const Operator& op, const PlanRequest& request, const Backend& backend)
{
    if (request.stage)
        return "the stage is asked for, and no record is asked";
    if (!request.settings.empty())
        return "tunables are set, and no record is asked";
    if (request.is_reproducible)
        return "the plan is to be reproducible, and no record is asked";
    if (!backend.identity())
        return fmt::format("records are of GPUs and of the back end cpu, and the back end is {}",
                           backend.name());
    return has_rows(op) ? "records do not tell rows of different lengths apart, and none is asked" : "";
}

/// True if the fold cannot rely on associativity, because its data may overflow.
bool is_folded_in_order(const OperatorLaws& laws)
{
    return std::ranges::find(laws.broken_by_overflow, Law::associative) != laws.broken_by_overflow.end();
}

/// Returns the bytes of a workload's arrays and results on a device.
std::int64_t device_bytes(const Workload& workload)
{
    const auto& segments = workload.segments;
    std::size_t bytes = 0;
    for (const auto& array : workload.arrays)
        bytes += array.bytes();
    for (const auto* array :
         {&segments.offsets, &segments.begins, &segments.ends, &segments.flags, &segments.item_keys})
        bytes += array->bytes();
    const auto results = [&](const std::vector<ResultField>& fields, std::int64_t count) {
        for (const auto& field : fields)
            bytes += static_cast<std::size_t>(count * workload.num_features) * size_bytes(field.type);
    };
    results(workload.op.results, is_found(segments.form) ? segments.num_elements : segments.num_segments);
    results(workload.op.outputs, segments.num_elements);
    return static_cast<std::int64_t>(bytes);
}

}  // namespace

SessionCore::SessionCore(SessionOptions options) : options_(std::move(options))
{
    if (options_.device && *options_.device < 0)
        throw InputError(
            fmt::format("device is {}; it is the ordinal of a GPU, 0 or more", *options_.device));
    if (!options_.kernels.empty())
        own_catalogue_ = std::make_shared<const Catalogue>(Catalogue::overlaid(options_.kernels));
}

SessionCore::SessionCore(std::unique_ptr<Backend> backend, SessionOptions options)
    : SessionCore(std::move(options))
{
    backend_ = std::move(backend);
}

OperatorLaws SessionCore::laws(const Operator& op, const ScalarValues& scalars,
                               const prove::ProofOptions* proof)
{
    const auto digest = digest_of(op);
    std::vector<Law> assumed;
    for (const auto law : options_.assume)
        if (claims(op, law))
            assumed.push_back(law);
    const std::lock_guard lock(mutex_);
    auto found = judged_.find(digest);
    // A check in any session of this process may have judged the laws more thoroughly since then.
    const bool may_be_known_better =
        found != judged_.end() && found->second.num_remembered != prove::num_remembered();
    if (may_be_known_better)
        judged_for_scalars_.clear();
    if (found == judged_.end() || proof != nullptr || (may_be_known_better && prove::remembered(op))) {
        auto laws = proof == nullptr ? quick_laws(op, assumed) : judge_laws(op, {}, assumed, proof);
        laws.assume_option = options_.assume_option;
        found = judged_.insert_or_assign(digest, Judged{std::move(laws), 0}).first;
        judged_for_scalars_.clear();
    }
    found->second.num_remembered = prove::num_remembered();
    const auto& of_all = found->second.laws;
    if (scalars.empty() || !depends_on_scalars(op, of_all.report, scalars))
        return of_all;
    std::pair key(digest, std::string());
    for (const auto& value : scalars)
        key.second += value ? " " + segfold::print(*value) : " any";
    auto known = judged_for_scalars_.find(key);
    if (known == judged_for_scalars_.end()) {
        constexpr std::size_t kMost = 256;  // bounds the map if the scalars of each run differ
        if (judged_for_scalars_.size() == kMost)
            judged_for_scalars_.clear();
        auto laws = laws_for_scalars(op, of_all.report, scalars, assumed);
        laws.assume_option = options_.assume_option;
        laws.is_remembered = of_all.is_remembered;
        known = judged_for_scalars_.emplace(std::move(key), std::move(laws)).first;
    }
    return known->second;
}

OperatorLaws SessionCore::laws(const Workload& workload)
{
    return on_data(laws(workload.op, scalar_values(workload)), workload);
}

std::shared_ptr<const RecordStore> SessionCore::records()
{
    const auto device = running()->identity();
    const std::lock_guard lock(mutex_);
    if (!store_)
        store_ = std::make_shared<const RecordStore>(
            RecordStore::open(record_folder(), device && device->compute_capability == 0));
    return store_;
}

std::shared_ptr<SpotRecords> SessionCore::spots()
{
    const auto store = records();
    const auto backend = running();
    const std::lock_guard lock(mutex_);
    if (!spots_)
        spots_ = std::make_shared<SpotRecords>(store->spot_rows(), record_folder(),
                                               [backend] { return backend->timing()->facts(); });
    return spots_;
}

std::shared_ptr<Backend> SessionCore::running()
{
    const std::lock_guard lock(mutex_);
    if (!backend_) {
        const BackendOptions wanted{options_.device, options_.schedule_seed};
        backend_ =
            make_backend(options_.backend == "auto" ? automatic_backend(wanted, own_catalogue_ != nullptr)
                                                    : options_.backend,
                         wanted);
    }
    return backend_;
}

std::shared_ptr<const Catalogue> SessionCore::catalogue(const Backend& of, bool is_reproducible) const
{
    const bool is_native = of.dialect() == Dialect::native && !is_reproducible;
    if (is_native && own_catalogue_)
        throw InputError(fmt::format(
            "the folder of kernels has stages of CUDA, which the back end {} does not run; take simt",
            of.name()));
    if (own_catalogue_)
        return own_catalogue_;
    // Built-in catalogues live until the process ends, so the pointer owns nothing.
    return {std::shared_ptr<void>(), is_native ? &Catalogue::native() : &Catalogue::standard()};
}

Chooser SessionCore::chooser(const Operator& op, const PlanRequest& request, std::string without_records)
{
    const auto of = running();
    auto& reason = without_records;
    if (reason.empty() && !options_.asks_records)
        reason = "the session asks no records";
    else if (reason.empty())
        reason = reason_without_records(op, request, *of);
    return {catalogue(*of, request.is_reproducible),
            reason.empty() ? records() : nullptr,
            reason,
            of->identity(),
            texts_,
            reason.empty() ? spots() : nullptr,
            of};
}

void SessionCore::forget_records()
{
    const std::lock_guard lock(mutex_);
    store_.reset();
    spots_.reset();
    ++num_forgotten_;
}

std::uint64_t SessionCore::num_findings() const
{
    return num_forgotten_ + prove::num_remembered() + num_kept_on_the_spot();
}

std::shared_ptr<OperatorPlans> SessionCore::plans_of(const Operator& op)
{
    constexpr std::size_t kMost = 64;
    const auto backend = running();
    // Equal operators share plans only if their source texts are equal too, because messages quote the
    // source.
    const auto is_of_same_text = [&](const Operator& other) {
        return op.source == other.source ||
               (op.source && other.source && op.source->name == other.source->name &&
                op.source->text == other.source->text);
    };
    const auto digest = digest_of(op);
    const std::lock_guard lock(mutex_);
    auto& kept = operators_;
    const auto found = std::ranges::find_if(
        kept, [&](const auto& one) { return one->digest == digest && is_of_same_text(one->op); });
    if (found != kept.end()) {
        kept.splice(kept.begin(), kept, found);
        return kept.front();
    }
    require_operator(op);
    kept.push_front(std::make_shared<OperatorPlans>(op, backend));
    if (kept.size() > kMost)
        kept.pop_back();
    return kept.front();
}

Problem SessionCore::problem_of(const Workload& workload, const OperatorLaws& laws)
{
    auto problem = make_problem(workload, laws);
    problem.target = running()->target();
    return problem;
}

Chosen SessionCore::choose(const Workload& workload, const PlanRequest& request,
                           const std::string& without_records, bool is_once)
{
    const auto backend = running();
    const auto laws = this->laws(workload);
    if (!backend->runs_stages()) {
        Chosen none;
        if (is_folded_in_order(laws))  // back ends without stages warn of overflow too
            none.warnings = law_warnings(laws, workload.op);
        return none;
    }
    const auto problem = problem_of(workload, laws);
    std::optional<ScratchRoom> room;
    if (const auto gpu = backend->device())  // called later, because the GPU's context may not exist yet
        room = {[&] {
                    return static_cast<std::int64_t>(backend->context()->memory().free_bytes) -
                           device_bytes(workload);
                },
                sizes_of(workload.segments, workload.num_features), gpu->multiprocessors};
    auto served = request;
    if (const auto stages = this->catalogue(*backend, request.is_reproducible);
        is_folded_in_order(laws) && request.stage && stages->unmet(stages->stage(*request.stage), problem)) {
        served.stage.reset();
        served.settings.clear();
    }
    auto chosen = segfold::choose(chooser(workload.op, served, without_records),
                                  {workload.op, problem, shape_of(workload), laws, served,
                                   compulsory_traffic(workload.op, workload.segments, workload.num_features),
                                   room ? &*room : nullptr, is_once});
    if (served.stage != request.stage)
        chosen.warnings.front() +=
            fmt::format("\n{} serves, as {}, which is asked for, relies on laws that overflow breaks",
                        chosen.plan->stage->name, *request.stage);
    if (auto note = backend->note(); !note.empty() && !has_told_note_.exchange(true))
        chosen.warnings.push_back(std::move(note));
    return chosen;
}

Chosen SessionCore::choose(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                           const PlanRequest& request, const std::string& without_records)
{
    return segfold::choose(chooser(problem.op, request, without_records),
                           {problem.written, problem, shape, laws, request, {}});
}

Results SessionCore::run(const Workload& workload, const Emitted* text, RunTimes* times)
{
    const auto backend = running();
    const std::lock_guard lock(*run_mutex_);
    return backend->run(workload, text, {}, times);
}

bool SessionCore::is_first_fold_of(const Operator& op)
{
    const std::lock_guard lock(mutex_);
    return folded_.insert(digest_of(op)).second;
}

FoldRun SessionCore::fold(const Workload& workload, const FoldWishes& wishes,
                          std::span<SessionCore* const> others)
{
    const auto backend = running();
    const bool has_thrust = backend->name() != "thrust";
    if (wishes.check)
        require_memory_to_validate(workload, has_thrust);
    require_measured_stages(wishes.plan.measured_stages);
    FoldRun run;
    if (wishes.plan.measured_stages > 1 && wishes.num_slices != 0)
        throw InputError("stages are measured on a fold in one piece, and this one is cut into slices");
    if (wishes.plan.measured_stages > 1 && wishes.plan.is_open() && backend->runs_stages() &&
        !backend->interprets()) {
        run = fold_measured(workload, wishes);
    } else if (wishes.num_slices != 0) {
        std::vector<SessionCore*> devices = {this};
        devices.insert(devices.end(), others.begin(), others.end());
        run = fold_in_slices(devices, workload, wishes);
        if (wishes.on_choice)
            wishes.on_choice(run.chosen);
    } else {
        run.chosen = choose(workload, wishes.plan, wishes.without_records, is_first_fold_of(workload.op));
        if (wishes.on_choice)
            wishes.on_choice(run.chosen);
        run.results = this->run(workload, run.chosen.text(), &run.times);
    }
    if (!wishes.check)
        return run;
    if (wishes.on_check)
        wishes.on_check();
    const auto laws = this->laws(workload);
    run.doubtful_laws = laws.relied_on_in_doubt();
    std::optional<Workload> sorted;  // needed because the reference and Thrust take only sorted elements
    if (workload.segments.form == SegmentForm::groups)
        sorted = sorted_by_group(workload);
    run.validation = validate(sorted ? *sorted : workload, run.results, laws.is_associative(), has_thrust);
    return run;
}

Folded SessionCore::fold(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                         const FoldOptions& options)
{
    if (segments.kind == LayoutKind::groups)
        return fold_groups(op, inputs, segments, options);
    if (auto folded = fold_by_kept_plan(op, inputs, segments, options))
        return *std::move(folded);
    return fold_anew(op, inputs, segments, options);
}

Folded SessionCore::fold_anew(const Operator& op, std::span<const ArrayView> inputs,
                              const SegmentsView& segments, const FoldOptions& options)
{
    return fold_workload(op, borrow_workload(op, inputs, segments), segments, options);
}

Folded SessionCore::fold_workload(const Operator& op, const Workload& workload, const SegmentsView& segments,
                                  const FoldOptions& options)
{
    require_stages(options.plan, backend());
    FoldWishes wishes{options.num_slices, options.plan, {}, options.check};
    wishes.one_piece = "fold it in one piece, by FoldOptions::num_slices = 0";
    auto run = fold(workload, wishes);
    if (segments.kind == LayoutKind::keys && !run.results.keys && workload.segments.keys)
        run.results.keys = workload.segments.keys->copy();
    Folded folded(std::move(run.results), workload.segments.num_segments);
    if (const auto& plan = run.chosen.plan)
        folded.plan_ = fmt::format("{} ({})", plan->text(), plan->chosen_by());
    folded.warnings_ = warnings(op);
    std::ranges::copy(run.chosen.warnings, std::back_inserter(folded.warnings_));
    if (const auto& validation = run.validation) {
        folded.doubtful_laws_ = std::move(run.doubtful_laws);
        for (const auto& comparison : validation->comparisons) {
            folded.check_.push_back(segfold::print(comparison));
            if (comparison.num_overflowed > folded.num_overflowed_) {
                folded.num_overflowed_ = comparison.num_overflowed;
                folded.overflow_ = print_overflow(comparison);
            }
            if (comparison.num_unjudged > folded.num_unjudged_) {
                folded.num_unjudged_ = comparison.num_unjudged;
                folded.unjudged_ = print_unjudged(comparison);
            }
        }
        if (!validation->without_thrust.empty())
            folded.check_.push_back("thrust has no say: " + validation->without_thrust);
        folded.agrees_ = validation->agrees();
    }
    deliver(folded.results_,
            {op, folded.num_segments_, workload.segments.num_elements, workload.num_features},
            workload.segments, segments, options.results);
    return folded;
}

std::optional<Folded> SessionCore::fold_by_kept_plan(const Operator& op, std::span<const ArrayView> inputs,
                                                     const SegmentsView& segments, const FoldOptions& options)
{
    if (options.check || options.num_slices != 0 || inputs.size() != op.parameters.size())
        return std::nullopt;
    try {
        const auto fold = std::make_shared<Fold>(Fold{plans_of(op),
                                                      {inputs.begin(), inputs.end()},
                                                      segments,
                                                      num_elements_of(op, inputs, segments),
                                                      {options.plan, num_features_of(op, inputs)}});
        auto planned = plan_for(fold, [](std::int64_t, const std::function<void()>& work) { work(); });
        if (!planned.kept)
            return std::nullopt;
        const auto& kept = *planned.kept;
        const FoldSizes sizes{op, kept.num_segments, fold->num_elements, fold->options.num_features};
        const auto form = segments.kind == LayoutKind::ranges ? SegmentForm::ranges : SegmentForm::offsets;
        auto results = allocate_results(op, form, sizes.num_segments, sizes.num_elements, sizes.num_features);
        std::vector<MutableArrayView> into;
        for (auto& [name, array] : results)
            into.push_back(room_in(array));
        kept.plan->run(inputs, fold->segments, into);
        if (fold->found && fold->found->keys)
            results.keys = fold->found->keys->copy();
        const Segments none;
        deliver(results, sizes, fold->found ? *fold->found : none, segments, options.results);
        Folded folded(std::move(results), sizes.num_segments);
        folded.plan_ = kept.text();
        folded.warnings_ = kept.plan->warnings();
        std::ranges::move(planned.told, std::back_inserter(folded.warnings_));
        return folded;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

Plan SessionCore::plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                       const PlanOptions& options)
{
    const auto backend = running();
    require_operator(op);
    require_stages(options.request, *backend);
    // A plan cannot sort. On a native back end, any kernel that takes unsorted elements will do. On a GPU, a
    // kernel with rank 0 has too little memory for this many groups.
    const bool is_native = backend->dialect() == Dialect::native;
    if (segments.kind == LayoutKind::groups && segments.num_groups && !segments.group_order &&
        backend->runs_stages() && !backend->interprets() && !options.request.stage &&
        !takes_groups(op, segments, num_elements, options.request, nullptr, !is_native))
        throw InputError(
            fmt::format("no kernel folds {} of operator {} as they lie; calls sort the elements, and plans "
                        "take them sorted, with offsets",
                        count_text(*segments.num_groups, "group"), op.name));
    PlanParts parts{op,
                    backend,
                    chooser(op, options.request, ""),
                    laws(op),
                    options,
                    run_mutex_,
                    options_.assume,
                    options_.fold_call};
    return make_plan(std::move(parts), segments, num_elements);
}

}  // namespace segfold
