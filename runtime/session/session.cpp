#include "runtime/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <mutex>

#include "dsl/check/rows.h"
#include "dsl/check/warnings.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/shape.h"
#include "runtime/judge/compare.h"
#include "runtime/laws/prove/verdict_cache.h"
#include "runtime/session/apart.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/deliver.h"
#include "runtime/session/kept_plans.h"
#include "runtime/session/plan_state.h"
#include "runtime/session/slicing.h"
#include "runtime/session/validation.h"
#include "runtime/support/text_table.h"

namespace segfold {

namespace {

/// Why no record is asked; empty where they are.
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

}  // namespace

struct Session::State {
    explicit State(SessionOptions asked) : options(std::move(asked))
    {
        if (options.device && *options.device < 0)
            throw InputError(
                fmt::format("device is {}; it is the ordinal of a GPU, 0 or more", *options.device));
        if (!options.kernels.empty())
            own_catalogue = std::make_shared<const Catalogue>(Catalogue::overlaid(options.kernels));
    }

    /// The laws as far as no data speak; `proof` judges them anew.
    OperatorLaws laws(const Operator& op, const ScalarValues& scalars,
                      const prove::ProofOptions* proof = nullptr)
    {
        const auto text = print(op);
        std::vector<Law> assumed;
        for (const auto law : options.assume)
            if (claims(op, law))
                assumed.push_back(law);
        const std::lock_guard lock(mutex);
        auto found = judged.find(text);
        // What a check in this process has found since, in whatever session, governs the next fold.
        const bool may_be_known_better =
            found != judged.end() && found->second.num_remembered != prove::num_remembered();
        if (may_be_known_better)
            judged_for_scalars.clear();
        if (found == judged.end() || proof != nullptr || (may_be_known_better && prove::remembered(op))) {
            auto laws = proof == nullptr ? quick_laws(op, assumed) : judge_laws(op, {}, assumed, proof);
            laws.assume_option = options.assume_option;
            found = judged.insert_or_assign(text, Judged{std::move(laws), 0}).first;
            judged_for_scalars.clear();
        }
        found->second.num_remembered = prove::num_remembered();
        const auto& of_all = found->second.laws;
        if (scalars.empty() || !depends_on_scalars(op, of_all.report, scalars))
            return of_all;
        auto key = text;
        for (const auto& value : scalars)
            key += value ? " " + segfold::print(*value) : " any";
        auto known = judged_for_scalars.find(key);
        if (known == judged_for_scalars.end()) {
            constexpr std::size_t kMost = 256;  // where each run has values of its own
            if (judged_for_scalars.size() == kMost)
                judged_for_scalars.clear();
            auto laws = laws_for_scalars(op, of_all.report, scalars, assumed);
            laws.assume_option = options.assume_option;
            laws.is_remembered = of_all.is_remembered;
            known = judged_for_scalars.emplace(std::move(key), std::move(laws)).first;
        }
        return known->second;
    }

    std::shared_ptr<const tune::RecordStore> records()
    {
        const auto device = running()->identity();
        const std::lock_guard lock(mutex);
        if (!store)
            store = std::make_shared<const tune::RecordStore>(
                tune::RecordStore::open(tune::record_folder(), device && device->compute_capability == 0));
        return store;
    }

    std::shared_ptr<Backend> running()
    {
        const std::lock_guard lock(mutex);
        if (!backend) {
            const BackendOptions wanted{options.device, options.schedule_seed};
            backend =
                make_backend(options.backend == "auto" ? automatic_backend(wanted, own_catalogue != nullptr)
                                                       : options.backend,
                             wanted);
        }
        return backend;
    }

    /// The stages that `backend` runs; for a reproducible plan those of a GPU, which a native one runs too.
    [[nodiscard]] std::shared_ptr<const Catalogue> catalogue(const Backend& of,
                                                             bool is_reproducible = false) const
    {
        const bool is_native = of.dialect() == Dialect::native && !is_reproducible;
        if (is_native && own_catalogue)
            throw InputError(fmt::format(
                "the folder of kernels has stages of CUDA, which the back end {} does not run; take simt",
                of.name()));
        if (own_catalogue)
            return own_catalogue;
        // Those of the program are never gone, and nobody owns them.
        return {std::shared_ptr<void>(), is_native ? &Catalogue::native() : &Catalogue::standard()};
    }

    /// Whom plans of an operator are chosen by; `without_records` says why no record is asked, empty: they
    /// may be.
    Chooser chooser(const Operator& op, const PlanRequest& request, std::string without_records)
    {
        const auto of = running();
        auto& reason = without_records;
        if (reason.empty() && !options.asks_records)
            reason = "the session asks no records";
        else if (reason.empty())
            reason = reason_without_records(op, request, *of);
        return {catalogue(*of, request.is_reproducible), reason.empty() ? records() : nullptr, reason,
                of->identity(), texts};
    }

    std::atomic<bool> has_told_note = false;  ///< what the back end's note() says
    SessionOptions options;
    std::shared_ptr<const Catalogue> own_catalogue;  ///< plans hold it, too; null without a folder
    std::mutex mutex;                                ///< of what follows
    /// Of the back end's runs; plans hold it too.
    std::shared_ptr<std::mutex> run_mutex = std::make_shared<std::mutex>();
    std::shared_ptr<EmittedTexts> texts = std::make_shared<EmittedTexts>();  ///< plans ask them, too
    std::shared_ptr<Backend> backend;
    struct Judged {
        OperatorLaws laws;
        std::uint64_t num_remembered = 0;  ///< of the process, when they were judged or looked at last
    };
    std::map<std::string, Judged> judged;
    std::map<std::string, OperatorLaws> judged_for_scalars;
    std::shared_ptr<const tune::RecordStore> store;
    std::atomic<std::uint64_t> num_forgotten = 0;         ///< records that a tuning has made old
    std::list<std::shared_ptr<OperatorPlans>> operators;  ///< the one used last in front
};

namespace {

/// Whether overflow of the data keeps a fold from relying on associativity.
bool is_folded_in_order(const OperatorLaws& laws)
{
    return std::ranges::find(laws.broken_by_overflow, Law::associative) != laws.broken_by_overflow.end();
}

/// Bytes that a workload's arrays and results take on a device.
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

Session::Session(SessionOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Session::Session(std::unique_ptr<Backend> backend, SessionOptions options)
    : state_(std::make_unique<State>(std::move(options)))
{
    state_->backend = std::move(backend);
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Session::State& Session::state() const
{
    if (!state_)
        throw InputError("this session has been moved from; use the one that it was moved to");
    return *state_;
}

OperatorLaws Session::laws(const Operator& op, const ScalarValues& scalars)
{
    auto& state = this->state();
    require_operator(op);
    return state.laws(op, scalars);
}

OperatorLaws Session::laws(const Workload& workload)
{
    return on_data(state().laws(workload.op, scalar_values(workload)), workload);
}

LawReport Session::prove(const Operator& op, double seconds)
{
    auto& state = this->state();
    require_operator(op);
    if (!(seconds >= 0))
        throw InputError(fmt::format("seconds is {}; a proof is given 0 or more", seconds));
    prove::ProofOptions options;
    options.seconds = seconds;
    return state.laws(op, {}, &options).report;
}

void Session::forget_records()
{
    auto& state = this->state();
    const std::lock_guard lock(state.mutex);
    state.store.reset();
    ++state.num_forgotten;
}

std::uint64_t Session::num_findings() const { return state().num_forgotten + prove::num_remembered(); }

std::shared_ptr<OperatorPlans> Session::plans_of(const Operator& op)
{
    constexpr std::size_t kMost = 64;
    auto& state = this->state();
    const auto backend = state.running();
    // Messages quote the text.
    const auto is_of_same_text = [&](const Operator& other) {
        return op.source == other.source ||
               (op.source && other.source && op.source->name == other.source->name &&
                op.source->text == other.source->text);
    };
    const std::lock_guard lock(state.mutex);
    auto& kept = state.operators;
    const auto found = std::ranges::find_if(
        kept, [&](const auto& one) { return same(one->op, op) && is_of_same_text(one->op); });
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

Backend& Session::backend() { return *state().running(); }
const Catalogue& Session::catalogue() { return *state().catalogue(*state().running()); }

Chosen Session::choose(const Workload& workload, const PlanRequest& request,
                       const std::string& without_records)
{
    const auto backend = state().running();
    const auto laws = this->laws(workload);
    if (!backend->runs_stages()) {
        Chosen none;
        if (is_folded_in_order(laws))  // its numbers are as wrapped, and those of other back ends say so
            none.warnings = law_warnings(laws, workload.op);
        return none;
    }
    auto problem = make_problem(workload, laws);
    problem.target = backend->target();
    std::optional<ScratchRoom> room;
    if (const auto gpu = backend->device())  // its context may still be made, and the arrays are not there
        room = {[&] {
                    return static_cast<std::int64_t>(backend->context()->memory().free_bytes) -
                           device_bytes(workload);
                },
                sizes_of(workload.segments, workload.num_features), gpu->multiprocessors};
    auto served = request;
    if (const auto catalogue = state().catalogue(*backend, request.is_reproducible);
        is_folded_in_order(laws) && request.stage &&
        catalogue->unmet(catalogue->stage(*request.stage), problem)) {
        served.stage.reset();
        served.settings.clear();
    }
    auto chosen = segfold::choose(
        state().chooser(workload.op, served, without_records),
        {workload.op, problem, shape_of(workload), laws, served,
         compulsory_traffic(workload.op, workload.segments, workload.num_features), room ? &*room : nullptr});
    if (served.stage != request.stage)
        chosen.warnings.front() +=
            fmt::format("\n{} serves, as {}, which is asked for, relies on laws that overflow breaks",
                        chosen.plan->stage->name, *request.stage);
    if (auto note = backend->note(); !note.empty() && !state().has_told_note.exchange(true))
        chosen.warnings.push_back(std::move(note));
    return chosen;
}

Chosen Session::choose(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                       const PlanRequest& request, const std::string& without_records)
{
    return segfold::choose(state().chooser(problem.op, request, without_records),
                           {problem.written, problem, shape, laws, request, {}});
}

Results Session::run(const Workload& workload, const Chosen& chosen, RunTimes* times)
{
    std::optional<PlanText> text;
    if (chosen.plan)
        text.emplace(chosen.plan->emitted, chosen.plan->stage->name);
    return run(workload, text ? &*text : nullptr, times);
}

Results Session::run(const Workload& workload, const PlanText* plan, RunTimes* times)
{
    const auto backend = state().running();
    const std::lock_guard lock(*state().run_mutex);
    return backend->run(workload, plan, {}, times);
}

Folded Session::fold(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                     const FoldOptions& options)
{
    if (auto folded = fold_by_kept_plan(op, inputs, segments, options))
        return *std::move(folded);
    return fold_anew(op, inputs, segments, options);
}

Folded Session::fold_anew(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                          const FoldOptions& options)
{
    const auto workload = borrow_workload(op, inputs, segments);
    const auto backend = state().running();
    require_stages(options.plan, *backend);
    std::optional<PlanChoice> plan;
    std::vector<std::string> chosen_warnings;
    Results results;
    if (options.check)
        require_memory_to_validate(workload, backend->name() != "thrust");
    if (options.num_slices != 0) {
        auto sliced = fold_in_slices(*this, workload, options.num_slices, options.plan);
        plan = std::move(sliced.plan);
        chosen_warnings = std::move(sliced.warnings);
        results = std::move(sliced.results);
    } else {
        auto chosen = choose(workload, options.plan);
        results = run(workload, chosen);
        plan = std::move(chosen.plan);
        chosen_warnings = std::move(chosen.warnings);
    }
    if (segments.kind == LayoutKind::keys && !results.keys && workload.segments.keys)
        results.keys = workload.segments.keys->copy();
    Folded folded(std::move(results), workload.segments.num_segments);
    if (plan)
        folded.plan_ = fmt::format("{} ({})", plan->text(), plan->chosen_by());
    folded.warnings_ = warnings(op);
    std::ranges::copy(chosen_warnings, std::back_inserter(folded.warnings_));
    if (options.check) {
        const auto laws = this->laws(workload);
        folded.doubtful_laws_ = laws.relied_on_in_doubt();
        const auto validation =
            validate(workload, folded.results_, laws.is_associative(), backend->name() != "thrust");
        for (const auto& comparison : validation.comparisons) {
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
        if (!validation.without_thrust.empty())
            folded.check_.push_back("thrust has no say: " + validation.without_thrust);
        folded.agrees_ = validation.agrees();
    }
    deliver(folded.results_,
            {op, folded.num_segments_, workload.segments.num_elements, workload.num_features},
            workload.segments, segments, options.results);
    return folded;
}

std::optional<Folded> Session::fold_by_kept_plan(const Operator& op, std::span<const ArrayView> inputs,
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
            into.push_back({array.type(), array.data(), static_cast<std::int64_t>(array.length())});
        kept.plan->run(fold->inputs, fold->segments, into);
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

Plan Session::plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                   const PlanOptions& options)
{
    const auto backend = state().running();
    require_operator(op);
    require_stages(options.request, *backend);
    PlanParts parts{op,
                    backend,
                    state().chooser(op, options.request, ""),
                    state().laws(op, {}),
                    options,
                    state().run_mutex,
                    state().options.assume,
                    state().options.fold_call};
    return make_plan(std::move(parts), segments, num_elements);
}

}  // namespace segfold
