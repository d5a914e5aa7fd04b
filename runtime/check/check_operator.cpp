#include "runtime/check/check_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dsl/error.h"
#include "runtime/check/elements_to_go_round.h"
#include "runtime/check/smallest_configuration.h"
#include "runtime/check/spread_stage.h"
#include "runtime/check/trial.h"
#include "runtime/data/shape.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/session/grouped/grouped_inputs.h"
#include "runtime/session/validation.h"
#include "runtime/simt/program.h"

namespace segfold::regress {
namespace {

constexpr std::int64_t kElementsOnGpu = std::int64_t{1} << 20;
constexpr std::int64_t kElementsOnHost = std::int64_t{1} << 14, kMostOnHost = std::int64_t{3} << 13;
constexpr std::int64_t kMostVectorItems = 16;

/// How a run of a stage gets its configuration. `next` is next_configuration(). `careful` is the same
/// configuration, but its text targets the oldest devices and checks every table read.
enum class Plan : std::uint8_t { of_a_run, smallest, next, careful };

/// Returns the number of elements for a run. If neither the layout nor the data give a number, each stage has
/// its own number; without a stage, the request's number is used.
std::int64_t elements_of(const CheckRequest& request, const CheckLayout& layout, const Stage* stage)
{
    const auto kind = layout.layout.kind;
    const bool is_open =
        !request.workload.num_elements && request.workload.inputs.empty() &&
        (kind == LayoutKind::whole || kind == LayoutKind::uniform || kind == LayoutKind::generated);
    const auto own = request.elements.find(stage);
    return is_open && own != request.elements.end() ? own->second : request.workload.standard_elements;
}

/// The data of one layout with one seed. The runs of several stages share them.
class Column {
public:
    Column(PreparedWorkload prepared, bool is_disturbed, const OperatorLaws& laws, Backend& backend,
           const Catalogue& catalogue, const CheckRequest& request)
        : prepared_(std::move(prepared)),
          is_disturbed_(is_disturbed),
          laws_(laws),
          request_(request),
          backend_(backend),
          catalogue_(catalogue),
          sorted_(workload_.segments.form == SegmentForm::groups ? std::optional(sorted_by_group(workload_))
                                                                 : std::nullopt),
          judge_(judged(), {.is_associative = laws.is_associative()}),
          problem_(make_problem(workload_, laws))
    {
        problem_.target = backend.target();
        if (!laws.is_associative())
            thrust_.reason = kThrustNeedsAssociative;
        else
            thrust_ = run_thrust(judged());
    }

    [[nodiscard]] std::int64_t num_elements() const { return workload_.segments.num_elements; }

    [[nodiscard]] const ThrustResults& thrust() const { return thrust_; }

    /// Compares Thrust with the reference.
    [[nodiscard]] std::vector<Comparison> judge_thrust() const { return {judge_.compare(*thrust_.results)}; }

    void run(const Stage& stage, const std::map<std::string, int>& chosen, Plan kind, std::uint64_t round,
             CheckOutcome& outcome) const
    {
        const auto problem = problem_for(stage, kind);
        outcome.unmet = catalogue_.unmet(stage, problem);
        if (!outcome.unmet)
            outcome.unmet = reason_against_parts();
        if (outcome.unmet)
            return;
        if (problem.target.compute_capability != problem_.target.compute_capability)
            outcome.compute_capability = problem.target.compute_capability;
        const auto shape = shape_of(workload_);
        const auto configure_stage = [&](const Stage& of, const Problem& formed) {
            if (kind == Plan::smallest && chosen.empty())
                return smallest_configuration(of, formed, {}, shape);
            if (kind != Plan::of_a_run && chosen.empty())
                return next_configuration(of, formed, shape);
            // `chosen` holds tunables of `stage`. Pieces of cut segments may be folded by another stage.
            return configure(of, &of == &stage ? chosen : std::map<std::string, int>{},
                             plan_facts(formed, shape));
        };
        outcome.configuration = configure_stage(stage, problem);
        try {
            const auto results = request_.is_spread() ? run_spread(stage, configure_stage, round)
                                                      : run(stage, problem, outcome.configuration, round);
            outcome.comparisons.push_back(judge_.compare(results));
            if (thrust_.results)
                outcome.comparisons.push_back(judge_.compare(results, *thrust_.results, "thrust"));
        } catch (const simt::SimtError& error) {
            outcome.fault = error.what();
        } catch (const InputError& error) {
            if (problem.checked_tables == problem_.checked_tables)
                throw;
            outcome.fault =
                error.what();  // the kernel's fault, because none of the elements reads outside a table
        } catch (const InternalError& error) {
            // Either the parts do not fit together at their borders, or the kernel found the wrong number of
            // segments.
            if (!request_.is_spread() && !is_found(problem.form))
                throw;
            outcome.fault = error.what();
        }
    }

private:
    /// Returns the problem for which the run's text is emitted. For `careful`, the problem has the oldest
    /// target and checks its tables, if the stage can serve such a problem. Otherwise the problem is the
    /// usual one.
    [[nodiscard]] Problem problem_for(const Stage& stage, Plan kind) const
    {
        if (kind != Plan::careful || request_.is_spread())
            return problem_;
        auto problem = problem_;
        problem.target = oldest_target(problem_.target);
        problem.checked_tables.clear();
        for (const auto& parameter : workload_.op.parameters)
            if (parameter.table && !parameter.scalar)
                problem.checked_tables.push_back(parameter.name);
        return catalogue_.unmet(stage, problem) ? problem_ : problem;
    }

    [[nodiscard]] const Workload& judged() const { return sorted_ ? *sorted_ : workload_; }

    [[nodiscard]] std::optional<std::string> reason_against_parts() const
    {
        if (!request_.is_spread())
            return std::nullopt;
        if (sorted_)
            return "elements in groups are not divided into parts";
        if (!laws_.usable.associative)
            return "segments that parts share would have other results: the operator is not associative";
        const auto reason =
            request_.ranks != nullptr ? reason_against_ranks(workload_.segments) : std::string();
        return reason.empty() ? std::nullopt : std::optional(reason);
    }

    [[nodiscard]] Results run(const Stage& stage, const Problem& problem, const Configuration& configuration,
                              std::uint64_t round) const
    {
        const auto emitted = emit(problem, stage, configuration, catalogue_);
        // If the stage keeps state in scratch memory, the second launch tests that the first launch has reset
        // it.
        const bool leaves = std::ranges::any_of(emitted.scratch, &EmittedScratch::zero);
        Circumstances circumstances{.launches = leaves ? 2 : 1, .round = round};
        if (is_disturbed_) {
            circumstances.shifted_elements = 1;
            circumstances.scratch_poison = kScratchPoison;
        }
        return backend_.run(workload_, &emitted, circumstances);
    }

    [[nodiscard]] Results run_spread(
        const Stage& stage, const std::function<Configuration(const Stage&, const Problem&)>& configure_stage,
        std::uint64_t round) const
    {
        const SpreadStage how{laws_, catalogue_, stage, configure_stage};
        if (request_.ranks != nullptr)
            return run_by_ranks(*request_.ranks, rank_device_of(backend_, {.round = round}), workload_, how);
        std::vector<SliceDevice> devices = {device_of(backend_, {.round = round})};
        for (auto* other : request_.others)
            devices.push_back(device_of(*other, {.round = round}));
        const auto num_slices = request_.num_slices != 0 ? request_.num_slices : std::ssize(devices);
        return run_sliced(devices, workload_, how, num_slices);
    }

    const PreparedWorkload prepared_;
    const bool is_disturbed_;
    const Workload& workload_ = prepared_.workload;
    OperatorLaws laws_;
    const CheckRequest& request_;
    Backend& backend_;
    const Catalogue& catalogue_;
    /// For groups: the workload in sorted order, which the reference and Thrust fold.
    std::optional<Workload> sorted_;
    Judge judge_;
    Problem problem_;
    ThrustResults thrust_;
};

/// Returns the laws that stages may rely on, given the data of the checks.
OperatorLaws laws_on_data(const Operator& op, const CheckRequest& request, OperatorLaws laws)
{
    const bool may_overflow = laws.most_elements < std::numeric_limits<std::int64_t>::max();
    if (!depends_on_data(laws) && !laws.doubts_identity && !may_overflow)
        return laws;
    return on_data(
        std::move(laws),
        make_check_workload(op, request.workload, request.layouts.front(), request.most_elements()).workload);
}

/// Overwrites the laws with the laws of rank 0. All ranks must call this.
void take_laws_of_first(AgreedRanks& ranks, OperatorLaws& laws)
{
    const std::uint8_t flags[] = {laws.usable.associative,          laws.usable.commutative,
                                  laws.usable.idempotent,           laws.usable.assumes_associative,
                                  laws.has_sound_identity,          laws.has_sound_append,
                                  laws.without_identity.has_value()};
    const auto first = ranks.of_first(std::as_bytes(std::span(flags)));
    const auto flag = [&](std::size_t i) { return first.at(i) != std::byte{0}; };
    laws.usable = {flag(0), flag(1), flag(2), flag(3)};
    laws.has_sound_identity = flag(4);
    laws.has_sound_append = flag(5);
    if (flag(6) != laws.without_identity.has_value())
        laws.without_identity = flag(6) ? std::optional<std::string>("as rank 0 has found") : std::nullopt;
}

/// Returns the ways in which a run of `stage` on `layout` gets its configuration. `turn` alternates between
/// the usual configuration (that of an ordinary run) and the smallest one. Both run on uniform segments, on
/// groups and offsets, and, if only one stage is checked, on ranges and on one segment. A layout of few
/// elements gets only the smallest configuration.
///
/// Plan::next also runs on groups, on flags or keys (the form that the stage lists first), and, if only one
/// stage is checked, on one segment. Plan::careful also runs on groups and offsets.
std::vector<Plan> plans_of(const CheckRequest& request, const CheckLayout& layout, const Stage& stage,
                           std::size_t turn)
{
    const auto of_turn = turn % 2 == 0 ? Plan::of_a_run : Plan::smallest;
    if (!request.chosen.empty())
        return {of_turn};
    if (layout.is_few)
        return {Plan::smallest};
    const bool is_alone = request.stages.size() == 1;
    if (layout.recast == SegmentForm::groups && std::ranges::count(stage.forms, SegmentForm::groups) != 0)
        return {Plan::of_a_run, Plan::smallest, Plan::next, Plan::careful};
    if (layout.recast == SegmentForm::offsets)
        return {Plan::of_a_run, Plan::smallest, Plan::careful};
    if (is_alone && layout.layout.kind == LayoutKind::whole && !layout.recast)
        return {Plan::of_a_run, Plan::smallest, Plan::next};
    if (layout.layout.kind == LayoutKind::uniform || (is_alone && layout.recast == SegmentForm::ranges))
        return {Plan::of_a_run, Plan::smallest};
    // The texts of a stage for flags and for keys differ only in the code that finds segments, so one of the
    // two forms suffices.
    const auto found = std::ranges::find_if(stage.forms, is_found);
    if (found != stage.forms.end() && layout.recast == *found)
        return {of_turn, Plan::next};
    return {of_turn};
}

CheckMatrix run_checks(const Operator& op, const CheckRequest& request, const OperatorLaws& laws,
                       Backend& backend, const Catalogue& catalogue,
                       const std::function<void(const std::string&)>& progress)
{
    CheckMatrix matrix;
    for (std::int64_t round = 0; round < request.num_seeds; ++round) {
        const std::uint64_t seed = request.workload.seed + static_cast<std::uint64_t>(round);
        for (std::size_t i = 0; i < request.layouts.size(); ++i) {
            const auto& layout = request.layouts[i];
            std::map<std::int64_t, Column> columns;
            const auto column_of = [&](const Stage* stage) -> const Column& {
                const auto wanted = elements_of(request, layout, stage);
                if (const auto made = columns.find(wanted); made != columns.end())
                    return made->second;
                progress(fmt::format("seed {}, {}: reference and thrust", seed, layout.name));
                auto data = request.workload;
                data.seed = seed;
                return columns
                    .try_emplace(wanted, make_check_workload(op, std::move(data), layout, wanted),
                                 layout.is_disturbed, laws, backend, catalogue, request)
                    .first->second;
            };
            for (const auto* stage : request.stages) {
                const auto& column = column_of(stage);
                matrix.num_elements = std::max(matrix.num_elements, column.num_elements());
                progress(fmt::format("seed {}, {}: {}", seed, layout.name, stage->name));
                for (const auto kind :
                     plans_of(request, layout, *stage, static_cast<std::size_t>(round) + i)) {
                    matrix.outcomes.push_back(
                        {stage->name, layout.name, seed, column.num_elements(), {}, {}, {}, {}, {}});
                    column.run(*stage, request.chosen, kind, static_cast<std::uint64_t>(round),
                               matrix.outcomes.back());
                    if (request.until_failure && matrix.outcomes.back().failed())
                        return matrix;
                }
            }
            for (const auto& [wanted, column] : columns) {
                matrix.thrust = column.thrust().description;
                matrix.without_thrust = column.thrust().reason;
                if (column.thrust().results)
                    matrix.outcomes.push_back({"thrust",
                                               layout.name,
                                               seed,
                                               column.num_elements(),
                                               {},
                                               {},
                                               {},
                                               {},
                                               column.judge_thrust()});
            }
        }
    }
    return matrix;
}

constexpr int kMostSteps = 40;  // most attempts to reduce a failing input

/// Reduces the number of elements as long as the stage still fails. All ranks must call this. They see the
/// same outcomes, so they take the same steps.
std::optional<SmallestFailure> make_smaller(const Operator& op, CheckRequest request,
                                            const CheckMatrix& matrix, const OperatorLaws& laws,
                                            Backend& backend, const Catalogue& catalogue,
                                            const std::function<void(const std::string&)>& progress)
{
    const auto failed = std::ranges::find_if(matrix.outcomes, [](const CheckOutcome& outcome) {
        return outcome.failed() && outcome.stage != "thrust";
    });
    if (!request.is_spread() || failed == matrix.outcomes.end())
        return std::nullopt;
    std::erase_if(request.layouts, [&](const CheckLayout& layout) { return layout.name != failed->layout; });
    std::erase_if(request.stages, [&](const Stage* stage) { return stage->name != failed->stage; });
    request.workload.seed = failed->seed;
    request.num_seeds = 1;
    request.chosen = {failed->configuration.begin(), failed->configuration.end()};
    SmallestFailure smallest{*failed};
    const auto is_met = [&](std::int64_t num_elements) {
        request.workload.num_elements = num_elements;
        try {
            auto again = run_checks(op, request, laws, backend, catalogue, progress);
            const auto found = std::ranges::find_if(again.outcomes, &CheckOutcome::failed);
            if (again.num_elements != num_elements || found == again.outcomes.end())
                return false;
            smallest = {std::move(*found), true};
            return true;
        } catch (const InputError&) {  // the layout cannot have this number of elements
            return false;
        }
    };
    for (int steps = 0; steps < kMostSteps && smallest.outcome.num_elements > 1; ++steps) {
        const auto n = smallest.outcome.num_elements;
        if (!is_met(n / 2) && !(n >= 4 && is_met(n - n / 4)) && !is_met(n - 1))
            break;
    }
    return smallest;
}

}  // namespace

std::int64_t elements_for(const Operator& op, const Stage& stage, const Catalogue& catalogue,
                          const Target& target, std::int64_t least, std::int64_t most)
{
    Problem problem(op, SegmentForm::offsets);
    problem.target = target;
    const auto needed = elements_to_go_round(stage, problem, catalogue, least, most);
    const auto step = kOddLength * kMostVectorItems;
    return (needed + step - 1) / step * step;
}

void take_standard_data(CheckRequest& request, const Operator& op, const Catalogue& catalogue,
                        const Backend& backend)
{
    const bool is_gpu = backend.device().has_value();
    for (const auto* stage : request.stages)
        request.elements[stage] =
            elements_for(op, *stage, catalogue, backend.target(), is_gpu ? kElementsOnGpu : kElementsOnHost,
                         is_gpu ? kElementsOnGpu : kMostOnHost);
    request.workload.standard_elements = request.most_elements();
    request.layouts =
        standard_layouts(op, request.workload.num_elements.value_or(request.workload.standard_elements));
}

std::int64_t CheckRequest::most_elements() const
{
    auto most = elements.size() < stages.size() ? workload.standard_elements : 0;
    for (const auto& [stage, own] : elements)
        most = std::max(most, own);
    return most;
}

std::string CheckRequest::spread_text() const
{
    if (ranks != nullptr)
        return fmt::format("{} {}", ranks->size(), ranks->size() == 1 ? "rank" : "ranks");
    const auto slices = fmt::format("{} {}", num_slices, num_slices == 1 ? "slice" : "slices");
    if (others.empty())
        return num_slices == 0 ? "" : slices;
    const auto devices = fmt::format("{} devices", others.size() + 1);
    return num_slices == 0 ? devices : slices + " on " + devices;
}

bool CheckOutcome::failed() const
{
    return fault ||
           std::ranges::any_of(comparisons, [](const auto& comparison) { return !comparison.agrees(); });
}

bool CheckMatrix::any_failed() const { return std::ranges::any_of(outcomes, &CheckOutcome::failed); }

bool Check::is_well() const
{
    const auto is_offence = [&](const LawFinding& finding) {
        return finding.verdict == segfold::Verdict::refuted &&
               std::ranges::find(laws.assumed, finding.law) == laws.assumed.end();
    };
    return std::ranges::none_of(laws.report.findings, is_offence) && !matrix.any_failed();
}

Check check_operator(Session& session, const Operator& op, const CheckRequest& request,
                     const std::function<void(const std::string&)>& progress)
{
    const auto tell = [&](const std::string& what) {
        if (progress)
            progress(what);
    };
    auto& backend = core(session).backend();
    if (!backend.runs_stages())
        throw InputError(
            fmt::format("a check runs stages, and the back end {} has none; cuda and simt have, and both are "
                        "compared with the reference and Thrust anyway",
                        backend.name()));
    tell("laws");
    Check check;
    const bool is_first = request.ranks == nullptr || request.ranks->rank() == 0;
    const auto scalars = given_scalars(op, request.workload.scalars);
    LawOptions law_options;
    law_options.scalars = scalars.empty() ? nullptr : &scalars;
    // Only rank 0 proves laws, because the outcome of a proof depends on elapsed time.
    check.laws = laws_on_data(
        op, request, judge_laws(op, law_options, request.assume, is_first ? &request.proof : nullptr));
    if (request.ranks != nullptr)
        take_laws_of_first(*request.ranks, check.laws);
    for (const auto& finding : check.laws.report.findings)
        if (finding.verdict == segfold::Verdict::refuted && is_first) {
            tell(fmt::format("an input that shows what comes of it: {}", name(finding.law)));
            if (auto fault = find_fault_input(session, op, check.laws.report, finding.law))
                check.faults.push_back(std::move(*fault));
        }
    // Without a sound identity, every stage could give wrong results, so none runs.
    check.has_stages = check.laws.has_sound_identity;
    if (check.has_stages) {
        check.matrix = run_checks(op, request, check.laws, backend, core(session).catalogue(), tell);
        check.smallest =
            make_smaller(op, request, check.matrix, check.laws, backend, core(session).catalogue(), tell);
    }
    return check;
}

}  // namespace segfold::regress
