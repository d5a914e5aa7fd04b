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
#include "runtime/judge/checked_workload.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/session/validation.h"
#include "runtime/simt/program.h"

namespace segfold::regress {
namespace {

constexpr std::int64_t kElementsOnGpu = std::int64_t{1} << 20;
constexpr std::int64_t kElementsOnHost = std::int64_t{1} << 14, kMostOnHost = std::int64_t{3} << 13;
constexpr std::int64_t kOddLength = 31, kMostVectorItems = 16;
constexpr std::int64_t kEmptiesBefore = 3, kEmptiesBetween = 300, kEmptiesBehind = 70;

/// Which configuration of a stage runs.
enum class Plan : std::uint8_t { of_a_run, smallest, next };

/// Merges the second quarter of the segments into one. If empty segments are allowed, adds runs of them at
/// the begin, in the middle and at the end.
Segments with_runs(const Segments& segments, bool allows_empty)
{
    const auto n = segments.num_segments;
    const auto empties = [&](std::int64_t count) { return allows_empty ? count : 0; };
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(empties(kEmptiesBefore)), 0);
    for (std::int64_t s = 0; s < n; ++s)
        if (s <= n / 4 || s > n / 2)
            offsets.insert(offsets.end(),
                           static_cast<std::size_t>(s == n * 3 / 4 ? 1 + empties(kEmptiesBetween) : 1),
                           segments.begin(s));
    offsets.insert(offsets.end(), static_cast<std::size_t>(1 + empties(kEmptiesBehind)),
                   segments.num_elements);
    return segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), segments.num_elements);
}

/// Makes ranges in descending order. Each non-empty one includes one element of the next segment, unless
/// elements are mapped, since those may belong to only one segment.
Segments backwards(const Segments& segments, bool is_mapped)
{
    const std::int64_t reach = is_mapped ? 0 : 1;
    std::vector<std::int64_t> begins, ends;
    for (std::int64_t s = segments.num_segments - 1; s >= 0; --s) {
        begins.push_back(segments.begin(s));
        ends.push_back(segments.length(s) == 0 ? segments.end(s)
                                               : std::min(segments.end(s) + reach, segments.num_elements));
    }
    return segments_from_ranges(Array::of<std::int64_t>(Type::i64, begins),
                                Array::of<std::int64_t>(Type::i64, ends), segments.num_elements);
}

PreparedWorkload prepare(const Operator& op, const CheckRequest& request, const CheckLayout& layout,
                         std::uint64_t seed, std::int64_t standard_elements)
{
    auto wanted = request.workload;
    wanted.standard_elements = standard_elements;
    wanted.layout = layout.layout;
    wanted.seed = seed;
    auto prepared = make_checked_workload(op, wanted);
    if (layout.recast) {
        auto segments = prepared.workload.segments.copy();
        if (layout.has_runs)
            segments = with_runs(segments, op.allows_empty());
        auto recast = *layout.recast == SegmentForm::offsets  ? std::move(segments)
                      : *layout.recast == SegmentForm::ranges ? backwards(segments, op.map.has_value())
                                                              : given_as(*layout.recast, segments);
        const int bits = wanted.index_bits.value_or(recast.index_bits());
        prepared.workload.segments = with_index_bits(std::move(recast), bits);
    }
    return prepared;
}

/// Returns how many elements a stage uses on a layout that gives no number. All stages use the same if the
/// data determine it.
std::int64_t elements_of(const CheckRequest& request, const CheckLayout& layout, const Stage* stage)
{
    const auto kind = layout.layout.kind;
    const bool is_open =
        !request.workload.num_elements && request.workload.inputs.empty() &&
        (kind == LayoutKind::whole || kind == LayoutKind::uniform || kind == LayoutKind::generated);
    const auto own = request.elements.find(stage);
    return is_open && own != request.elements.end() ? own->second : request.workload.standard_elements;
}

/// Data shared by the outcomes of one workload.
class Column {
public:
    Column(PreparedWorkload prepared, const OperatorLaws& laws, Backend& backend, const Catalogue& catalogue,
           const CheckRequest& request)
        : prepared_(std::move(prepared)),
          laws_(laws),
          request_(request),
          backend_(backend),
          catalogue_(catalogue),
          judge_(workload_, {.is_associative = laws.is_associative()}),
          problem_(make_problem(workload_, laws))
    {
        problem_.target = backend.target();
        if (!laws.is_associative())
            thrust_.reason = kThrustNeedsAssociative;
        else
            thrust_ = run_thrust(workload_);
    }

    [[nodiscard]] std::int64_t num_elements() const { return workload_.segments.num_elements; }

    [[nodiscard]] const ThrustResults& thrust() const { return thrust_; }

    /// Compares Thrust with the reference.
    [[nodiscard]] std::vector<Comparison> judge_thrust() const { return {judge_.compare(*thrust_.results)}; }

    void run(const Stage& stage, const std::map<std::string, int>& chosen, Plan kind, std::uint64_t round,
             CheckOutcome& outcome) const
    {
        outcome.unmet = catalogue_.unmet(stage, problem_);
        if (!outcome.unmet)
            outcome.unmet = reason_against_parts();
        if (outcome.unmet)
            return;
        const auto shape = shape_of(workload_);
        const auto configure_stage = [&](const Stage& of, const Problem& problem) {
            if (kind == Plan::smallest && chosen.empty())
                return smallest_configuration(of, problem, {}, shape);
            if (kind == Plan::next && chosen.empty())
                return next_configuration(of, problem, shape);
            // The chosen tunables are for this stage. The stage that folds pieces may be another one.
            return configure(of, &of == &stage ? chosen : std::map<std::string, int>{},
                             plan_facts(problem, shape));
        };
        outcome.configuration = configure_stage(stage, problem_);
        try {
            const auto results = run(stage, configure_stage, round);
            outcome.comparisons.push_back(judge_.compare(results));
            if (thrust_.results)
                outcome.comparisons.push_back(judge_.compare(results, *thrust_.results, "thrust"));
        } catch (const simt::SimtError& error) {
            outcome.fault = error.what();
        } catch (const InternalError& error) {  // borders of the parts do not fit together
            if (!request_.is_spread())
                throw;
            outcome.fault = error.what();
        }
    }

private:
    [[nodiscard]] std::optional<std::string> reason_against_parts() const
    {
        if (!request_.is_spread())
            return std::nullopt;
        if (!laws_.usable.associative)
            return "segments that parts share would have other results: the operator is not associative";
        const auto reason =
            request_.ranks != nullptr ? reason_against_ranks(workload_.segments) : std::string();
        return reason.empty() ? std::nullopt : std::optional(reason);
    }

    Results run(const Stage& stage,
                const std::function<Configuration(const Stage&, const Problem&)>& configure_stage,
                std::uint64_t round) const
    {
        if (!request_.is_spread()) {
            const auto emitted = emit(problem_, stage, configure_stage(stage, problem_), catalogue_);
            const PlanText plan{emitted, stage.name};
            // Two launches, because what the first leaves in scratch memory must serve the second.
            const bool leaves = std::ranges::any_of(emitted.scratch, &EmittedScratch::zero);
            return backend_.run(workload_, &plan, {.launches = leaves ? 2 : 1, .round = round});
        }
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
    const Workload& workload_ = prepared_.workload;
    OperatorLaws laws_;
    const CheckRequest& request_;
    Backend& backend_;
    const Catalogue& catalogue_;
    Judge judge_;
    Problem problem_;
    ThrustResults thrust_;
};

/// Returns the laws that stages may rely on for the data of the checks.
OperatorLaws laws_on_data(const Operator& op, const CheckRequest& request, OperatorLaws laws)
{
    const bool may_overflow = laws.most_elements < std::numeric_limits<std::int64_t>::max();
    if (!depends_on_data(laws) && !laws.doubts_identity && !may_overflow)
        return laws;
    return on_data(std::move(laws), prepare(op, request, request.layouts.front(), request.workload.seed,
                                            request.most_elements())
                                        .workload);
}

/// All ranks take over the laws of rank 0. All must call it.
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

/// Chooses the configurations that run. The run's and the smallest alternate; both run on segments of one
/// length and on the most awkward layout.
///
/// The next to the smallest runs on the most awkward layout, too. It also runs on flags or keys, the first of
/// them that the stage reads itself, and, if only one stage is checked, on one segment.
std::vector<Plan> plans_of(const CheckRequest& request, const CheckLayout& layout, const Stage& stage,
                           std::size_t turn)
{
    const auto of_turn = turn % 2 == 0 ? Plan::of_a_run : Plan::smallest;
    if (!request.chosen.empty())
        return {of_turn};
    const bool is_whole = layout.layout.kind == LayoutKind::whole && !layout.recast;
    if (layout.recast == SegmentForm::offsets || (is_whole && request.stages.size() == 1))
        return {Plan::of_a_run, Plan::smallest, Plan::next};
    if (layout.layout.kind == LayoutKind::uniform)
        return {Plan::of_a_run, Plan::smallest};
    // Texts that read flags and texts that read keys differ only in that.
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
                return columns
                    .try_emplace(wanted, prepare(op, request, layout, seed, wanted), laws, backend, catalogue,
                                 request)
                    .first->second;
            };
            for (const auto* stage : request.stages) {
                const auto& column = column_of(stage);
                matrix.num_elements = std::max(matrix.num_elements, column.num_elements());
                progress(fmt::format("seed {}, {}: {}", seed, layout.name, stage->name));
                for (const auto kind :
                     plans_of(request, layout, *stage, static_cast<std::size_t>(round) + i)) {
                    matrix.outcomes.push_back(
                        {stage->name, layout.name, seed, column.num_elements(), {}, {}, {}, {}});
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
                                               column.judge_thrust()});
            }
        }
    }
    return matrix;
}

constexpr int kMostSteps = 40;  // each step but the last makes the failure smaller

/// Reduces the number of elements as long as the stage still fails. With ranks, all must call it; all see the
/// same outcomes and take the same steps.
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

std::vector<CheckLayout> standard_layouts(const Operator& op, std::int64_t num_elements)
{
    // Takes an odd length if one divides the number, so segments begin anywhere in tiles and vectors.
    std::int64_t length = kOddLength;
    while (length > 1 && num_elements % length != 0)
        length -= 2;
    for (std::int64_t even = 32; length == 1 && even > 1; even -= 2)
        length = num_elements % even == 0 ? even : 1;
    std::vector<CheckLayout> layouts;
    const std::string uneven = op.allows_empty() ? "half_empty:mean=8" : "bimodal:short=3,long=700";
    for (const auto& text :
         {std::string("whole"), fmt::format("uniform={}", length), std::string("zipf:exponent=1.9"), uneven})
        layouts.push_back({text, parse_layout(text)});
    layouts.push_back({"ranges", layouts.back().layout, SegmentForm::ranges, true});
    // Neither form can express an empty segment.
    for (const auto form : {SegmentForm::flags, SegmentForm::keys})
        layouts.push_back({std::string(name(form)), parse_layout("bimodal:short=3,long=700"), form});
    layouts.push_back(
        {op.allows_empty() ? "empty_runs" : "giant", parse_layout(uneven), SegmentForm::offsets, true});
    return layouts;
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
    // A proof depends on the clock, so only rank 0 proves.
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
    // Without a sound identity, no stage could be right.
    check.has_stages = check.laws.has_sound_identity;
    if (check.has_stages) {
        check.matrix = run_checks(op, request, check.laws, backend, core(session).catalogue(), tell);
        check.smallest =
            make_smaller(op, request, check.matrix, check.laws, backend, core(session).catalogue(), tell);
    }
    return check;
}

}  // namespace segfold::regress
