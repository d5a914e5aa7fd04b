#include "runtime/session/choice/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "codegen/order/stage_order.h"
#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/judge/table_check.h"
#include "runtime/session/choice/explanation.h"

namespace segfold {
namespace {

/// Returns the part of an error message with counter-examples to the refuted laws that the stage needs.
std::string counter_examples(const Stage& stage, const LawReport& report, const Operator& op)
{
    std::string text;
    for (const auto& finding : report.findings) {
        const bool is_needed = std::ranges::any_of(
            stage.needs, [&](const Formula& need) { return need.text() == name(finding.law); });
        if (is_needed && finding.verdict == Verdict::refuted)
            text += "\n" + print(finding, op);
    }
    return text;
}

void require(const Stage& stage, const Problem& problem, const LawReport& report, const Catalogue& catalogue)
{
    try {
        catalogue.require(stage, problem);
    } catch (const InputError& error) {
        throw InputError(error.what() + counter_examples(stage, report, problem.op));
    }
}

/// Returns the stages that serve the problem, best first.
std::vector<const Stage*> ranked_stages(const Problem& problem, const Shape& shape,
                                        const Catalogue& catalogue)
{
    std::vector<const Stage*> stages;
    for (const auto& one : catalogue.ranked(plan_facts(problem, shape), problem))
        stages.push_back(one.stage);
    return stages;
}

/// Returns the bytes per second of a fast fold, to weigh the time of a run against the time to compile. For a
/// GPU it is six tenths of the memory's rate. For a host, whose memory rate is unknown, it is the rate of two
/// cores.
double assumed_rate(const std::optional<DeviceIdentity>& device)
{
    constexpr double kHostRate = 8e9, kShareOfBus = 0.6, kTransfersPerClock = 2, kBitsPerByte = 8;
    if (!device || device->bus_width_bits == 0 || device->memory_clock_khz == 0)
        return kHostRate;
    return kShareOfBus * kTransfersPerClock * 1e3 * device->memory_clock_khz * device->bus_width_bits /
           kBitsPerByte;
}

/// Returns text such as "warp_stream 0.98, lean_stream 0.95, gather_tiles 0.80 of the best stage's rate";
/// empty if measured rows rank no stage.
std::string expected_text(const std::vector<RankedStage>& ranked, const std::optional<DeviceIdentity>& device)
{
    constexpr std::size_t kNamed = 3;
    if (std::ranges::none_of(ranked, [](const auto& one) { return one.expected_share.has_value(); }))
        return "";
    std::string text;
    for (const auto& one : std::span(ranked).first(std::min(kNamed, ranked.size())))
        text += fmt::format(
            "{}{} {}", text.empty() ? "" : ", ", one.stage->name,
            one.expected_share ? fmt::format("{:.2f}", std::min(1.0, *one.expected_share)) : "unmeasured");
    text += " of the best stage's rate";
    if (device && !StageOrder::standard().rows().contains(device->name))
        text += fmt::format("; no row was measured on {}", device->name);
    return text;
}

/// True if an emitted text reads segments in the form that they have on the device.
bool suits(const Emitted& emitted, const ScratchRoom& room)
{
    return !room.lying ||
           (emitted.form == *room.lying && (*room.lying != SegmentForm::ranges || !emitted.counts_items));
}

/// Returns `first` if it suits() the segments on the device. Otherwise returns a plan of the last stage in
/// the catalogue whose plan suits them; see choose_plan().
PlanChoice suiting(PlanChoice first, const PlanRequest& request, const Problem& problem, const Shape& shape,
                   const Catalogue& catalogue, const ScratchRoom& room)
{
    if (suits(first.emitted, room))
        return first;
    if (request.stage || request.is_reproducible)
        throw InputError(
            fmt::format("{} cannot take these segments as they lie on the device; leave the stage{} to the "
                        "plan",
                        first.stage->name, request.stage ? "" : " and the order of combination"));
    const auto facts = plan_facts(problem, shape);
    const Stage* last = nullptr;
    for (const auto& stage : catalogue.stages())
        if (!stage.is_rung && !catalogue.unmet(stage, problem) &&
            served_form(stage, *room.lying) == *room.lying &&
            suits(emit(problem, stage, default_configuration(stage, facts), catalogue), room))
            last = &stage;
    if (last == nullptr)
        throw InputError(fmt::format(
            "no stage takes segments given by {} on a device for operator {}{}", name(*room.lying),
            problem.op.name,
            *room.lying == SegmentForm::ranges && problem.op.scan
                ? ": running results number the elements of all ranges, and only the device knows how many "
                  "there are"
                : ""));
    return {catalogue.share(*last), false,
            emit(problem, *last, configure(*last, request.settings, facts), catalogue, request.numbers)};
}

/// Returns `first` if its scratch memory fits the device. Otherwise returns the next plan whose memory fits;
/// see choose_plan().
PlanChoice fitting(PlanChoice first, const PlanRequest& request, const Problem& problem, const Shape& shape,
                   const Catalogue& catalogue, const ScratchRoom& room)
{
    const auto bytes_of = [&](const Emitted& emitted) {
        return scratch_bytes_of(emitted, room.sizes, room.num_multiprocessors);
    };
    // Plans that need less scratch memory are not checked.
    constexpr std::int64_t kLittle = std::int64_t{16} << 20;
    const auto needed = bytes_of(first.emitted);
    if (needed <= kLittle || !room.free_bytes)
        return first;
    const auto free = room.free_bytes();
    if (free < 0 || needed <= free)
        return first;
    const auto lacks = fmt::format("{} needs {} bytes of scratch memory, and {} are free on the device",
                                   first.stage->name, needed, free);
    if (request.is_reproducible)
        throw DeviceError(lacks + "; another stage would fold in another order");
    for (const auto* stage : ranked_stages(problem, shape, catalogue)) {
        auto emitted = emit(problem, *stage, default_configuration(*stage, plan_facts(problem, shape)),
                            catalogue, request.numbers);
        const auto bytes = bytes_of(emitted);
        if (bytes > free || !suits(emitted, room))
            continue;
        if (!request.is_open())
            throw DeviceError(fmt::format("{}; {} needs {}", lacks,
                                          print(Point{stage->name, emitted.configuration}), bytes));
        PlanChoice next{catalogue.share(*stage), false, std::move(emitted)};
        next.passed_over = lacks;
        return next;
    }
    throw DeviceError(lacks + "; no stage that can serve fits; fold fewer elements at a time");
}

}  // namespace

Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws)
{
    auto folded = laws.without_identity ? without_identity(op) : op;
    if (!laws.has_sound_append)
        folded.append.reset();
    Problem problem(std::move(folded), kernel_form(op, form), index_bits);
    problem.laws = laws.usable;
    return problem;
}

Problem make_problem(const Workload& workload, const OperatorLaws& laws)
{
    const auto& segments = workload.segments;
    auto problem = make_problem(workload.op, segments.form, segments.index_bits(), laws);
    if (segments.form == SegmentForm::keys)
        problem.key_bytes = static_cast<int>(size_bytes(segments.item_keys.type()));
    if (segments.form == SegmentForm::groups)
        problem.number_type = segments.numbers.type();
    problem.checked_tables = unproved_tables(workload);
    return problem;
}

PlannedPoint planned_point(const PlanRequest& request, const Problem& problem, const FormulaNames& facts,
                           const OperatorLaws& laws, const Catalogue& catalogue, const Lookup* looked_up)
{
    const auto* found =
        looked_up != nullptr && looked_up->point && request.is_open() ? &*looked_up->point : nullptr;
    const auto& stage = found           ? catalogue.stage(found->stage)
                        : request.stage ? catalogue.stage(*request.stage)
                                        : catalogue.rule_of_thumb_by(facts, problem);
    if (found || request.stage)  // the rule of thumb returns only stages that serve the problem
        require(stage, problem, laws.report, catalogue);
    return {&stage, found ? found->configuration : configure(stage, request.settings, facts),
            !found                            ? PlanSource::order
            : looked_up->match == Match::spot ? PlanSource::spot_record
                                              : PlanSource::tuning_record};
}

PlanChoice choice_of(const PlannedPoint& point, const PlanRequest& request, const Problem& problem,
                     const Catalogue& catalogue, EmittedTexts* texts)
{
    PlanChoice choice{
        catalogue.share(*point.stage), request.stage.has_value(),
        texts == nullptr ? emit(problem, *point.stage, point.configuration, catalogue, request.numbers)
                         : texts->get(problem, *point.stage, point.configuration, catalogue, request.numbers),
        point.source};
    choice.emitted.is_reproducible = request.is_reproducible;
    return choice;
}

namespace {

/// True if the time to compile counts in the choice; see First.
bool asks_fast(const Wanted& wanted)
{
    const auto& request = wanted.request;
    return request.is_open() && request.measured_stages == 1 &&
           (request.first == First::fast ||
            (request.first == First::automatic && wanted.is_once && gives_same_bits(wanted.op, wanted.laws)));
}

/// True if a compiled stage is preferred to a stage that is not compiled. It is so if this process compiles
/// nothing and every stage gives the same bits.
bool takes_what_is_compiled(const Chooser& chooser, const Wanted& wanted)
{
    return wanted.request.is_open() && chooser.backend->only_loads() &&
           gives_same_bits(wanted.op, wanted.laws);
}

/// Replaces `plan` by the stage whose results would come first, including the time to compile. Considers the
/// stages `ranked`, which are ordered best first, and leaves out stages that do not suit the device.
void take_fast_first(PlanChoice& plan, const Chooser& chooser, const Wanted& wanted,
                     const std::vector<RankedStage>& ranked)
{
    const auto& [op, problem, shape, laws, request, traffic, room, is_once] = wanted;
    if (ranked.empty() || !ranked.front().expected_share)
        return;
    auto& backend = *chooser.backend;
    const auto run_seconds = static_cast<double>(traffic.total()) / assumed_rate(chooser.device);
    double least = backend.seconds_to_compile(plan.emitted) + run_seconds;
    const auto own = plan.stage;
    for (const auto& one : ranked) {
        if (one.stage->name == own->name || !one.expected_share)
            continue;
        const double slower = *ranked.front().expected_share / std::max(*one.expected_share, 1e-3);
        if (run_seconds * std::max(slower, 1.0) >= least)
            continue;
        auto named = request;
        named.stage = one.stage->name;
        try {
            auto other = choose_plan(named, problem, shape, laws, *chooser.catalogue, nullptr, room,
                                     chooser.texts.get());
            const double seconds =
                backend.seconds_to_compile(other.emitted) + run_seconds * std::max(slower, 1.0);
            if (seconds >= least)
                continue;
            least = seconds;
            plan = std::move(other);
            plan.is_asked = false;
            plan.source = PlanSource::fast_first;
        } catch (const Error&) {
            // The stage lacks memory, or cannot read the segments in their form.
        }
    }
}

}  // namespace

PlanChoice choose_plan(const PlanRequest& request, const Problem& problem, const Shape& shape,
                       const OperatorLaws& laws, const Catalogue& catalogue, const Lookup* looked_up,
                       const ScratchRoom* room, EmittedTexts* texts)
{
    require_sound_identity(laws, problem.op);
    if (request.is_reproducible && (request.stage || !request.settings.empty()))
        throw InputError(
            "a stage and settings change the order of combination, which a reproducible plan fixes; "
            "leave them out");
    if (request.is_reproducible && problem.op.scan && !combines_exactly(problem.op))
        throw InputError(fmt::format(
            "operator {} rounds where it combines states, and running results are combined tile "
            "by tile, in tiles whose sizes differ between plans and devices; a plan gives the same "
            "bits in each run on one device, and none gives them on all",
            problem.op.name));
    const auto point =
        planned_point(request, problem, plan_facts(problem, shape), laws, catalogue, looked_up);
    auto choice = choice_of(point, request, problem, catalogue, texts);
    if (room == nullptr)
        return choice;
    choice = fitting(std::move(choice), request, problem, shape, catalogue, *room);
    return suiting(std::move(choice), request, problem, shape, catalogue, *room);
}

Lookup Chooser::look_up(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                        const PlanRequest& request) const
{
    Lookup lookup;
    lookup.reason = without_records;
    if (records)
        lookup = segfold::look_up(*records, question(problem, shape));
    if (lookup.point || !spots || request.measured_stages > 1 || !gives_same_bits(problem.op, laws))
        return lookup;
    auto spot = spots->look_up(question(problem, shape));
    if (!spot.point)
        return lookup;
    spot.ignored = std::move(lookup.ignored);
    spot.seeds = std::move(lookup.seeds);
    return spot;
}

Chosen choose(const Chooser& chooser, const Wanted& wanted)
{
    const auto& [op, problem, shape, laws, request, traffic, room, is_once] = wanted;
    const auto& catalogue = *chooser.catalogue;
    Chosen chosen;
    auto& explanation = chosen.explanation;
    explanation.lookup = chooser.look_up(problem, shape, laws, request);
    auto& plan = chosen.plan.emplace(choose_plan(request, problem, shape, laws, catalogue,
                                                 &explanation.lookup, room, chooser.texts.get()));
    const auto facts = plan_facts(problem, shape);
    const auto ranked = catalogue.ranked(facts, problem);
    const bool is_known =
        explanation.lookup.point && request.first == First::automatic;  // a record is preferred
    if (chooser.backend && plan.passed_over.empty() &&
        ((asks_fast(wanted) && !is_known) || takes_what_is_compiled(chooser, wanted)))
        take_fast_first(plan, chooser, wanted, ranked);
    const auto& rule = ranked.empty() ? *plan.stage : *ranked.front().stage;
    explanation.rule = print(Point{rule.name, default_configuration(rule, facts)});
    explanation.expected = expected_text(ranked, chooser.device);
    if (!explanation.expected.empty())
        explanation.nearest = StageOrder::standard().nearest(order_facts(facts), [&](std::string_view stage) {
            return std::ranges::find(catalogue.stages(), stage, &Stage::name) != catalogue.stages().end();
        });
    explanation.taken = fmt::format("{}, {}", plan.text(), plan.chosen_by());
    explanation.without_identity = laws.without_identity.value_or("");
    explanation.traffic = traffic;
    explanation.on_host = room == nullptr;
    if (room != nullptr)
        explanation.scratch_bytes = scratch_bytes_of(plan.emitted, room->sizes, room->num_multiprocessors);
    chosen.warnings = law_warnings(laws, op, problem, shape, catalogue, *plan.stage);
    return chosen;
}

std::vector<std::string> law_warnings(OperatorLaws laws, const Operator& op, const Problem& problem,
                                      const Shape& shape, const Catalogue& catalogue, const Stage& taken)
{
    const auto in_doubt = std::ranges::find(laws.refuted_by_nan, Law::associative);
    if (in_doubt == laws.refuted_by_nan.end())
        return law_warnings(laws, op);
    // A stage that does not need associativity folds from left to right.
    auto ordered = problem;
    ordered.laws.associative = ordered.laws.assumes_associative = false;
    if (!catalogue.unmet(taken, ordered)) {
        laws.refuted_by_nan.erase(in_doubt);
        return law_warnings(laws, op);
    }
    const auto stages = ranked_stages(ordered, shape, catalogue);
    return law_warnings(laws, op, stages.empty() ? "" : stages.front()->name);
}

}  // namespace segfold
