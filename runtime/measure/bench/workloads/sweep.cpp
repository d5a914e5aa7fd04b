#include "runtime/measure/bench/workloads/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/data/shape.h"
#include "runtime/judge/checked_workload.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/choice/explanation.h"
#include "runtime/session/core.h"

namespace segfold::bench {
namespace {

constexpr std::int64_t kSweptElements = std::int64_t{1} << 28;
constexpr double kShareOfMemory = 0.8;
constexpr std::int64_t kSampledElements = std::int64_t{1} << 16;

bool is_generated(const WorkloadRequest& request)
{
    const auto kind = request.layout.kind;
    return request.inputs.empty() &&
           (kind == LayoutKind::whole || kind == LayoutKind::uniform || kind == LayoutKind::generated);
}

/// Returns the layouts for which scratch memory is estimated. In a sweep of layouts, this is one layout per
/// form.
std::vector<Layout> counted_layouts(const SweepRequest& request)
{
    if (request.sweep != Sweep::layouts)
        return {request.workload.layout};
    return {parse_layout("whole"), parse_layout("uniform=1"), parse_layout("geometric:mean=4")};
}

std::vector<Case> cases_of(Session& session, const SweepRequest& request, const Timing& timing,
                           const Operator& op, const OperatorLaws& laws)
{
    const auto& layout = request.workload.layout;
    if (request.sweep == Sweep::sizes)
        return size_cases(layout, request.from, request.to);
    if (request.sweep == Sweep::lot)
        return lot_cases(request.lot);
    auto elements = request.workload.num_elements;
    const auto features = generated_features(op, request.workload.num_features);
    const bool is_swept = request.sweep == Sweep::layouts;
    if (!elements && is_generated(request.workload))
        elements = fitting_elements(static_cast<double>(timing.free_bytes()), op,
                                    is_swept ? parse_layout("uniform=1") : layout, features,
                                    scratch_of_element(session, op, laws, request));
    if (is_swept)
        return standard_cases(elements.value_or(kSweptElements));
    return {{layout, elements}};
}

/// Returns a small workload with the same kind of values as the bench: from the files, or generated.
Workload sample(const Operator& op, WorkloadRequest request)
{
    if (is_generated(request)) {
        request.layout = {};
        request.num_elements = kSampledElements;
    }
    return make_checked_workload(op, request).workload;
}

/// Data shared by all workloads of one operator.
struct Swept {
    Session& session;
    Bench& bench;
    const Operator& op;
    const SweepRequest& request;
    const SweepListener& listener;
    OperatorLaws laws;
    CaseData data;
};

void warn(const SweepListener& listener, const std::vector<std::string>& warnings)
{
    if (listener.warned)
        for (const auto& warning : warnings)
            listener.warned(warning);
}

void measure(Swept& swept, const Case& wanted)
{
    const auto& [session, bench, op, request, listener, laws, data] = swept;
    if (listener.progress)
        listener.progress(fmt::format("preparing {}", print(wanted.layout)));
    auto prepared = swept.data.prepare(wanted);
    if (request.given_as)
        prepared.workload.segments = given_as(*request.given_as, prepared.workload.segments);
    const auto& segments = prepared.workload.segments;
    auto problem = make_problem(prepared.workload, laws);
    problem.target = bench.backend.target();
    std::vector<const Peer*> peers;
    for (const auto* candidate : request.peers)
        if (!request.only_fitting_peers ||
            (candidate->is_of_host() == bench.peers->is_of_host() &&
             candidate->scans == op.scan.has_value() &&
             std::ranges::find(candidate->forms, problem.form) != candidate->forms.end()))
            peers.push_back(candidate);
    std::vector<std::string> warnings;
    auto plans = ladder_plans(session, problem, shape_of(prepared.workload), laws, request.plans, warnings);
    warn(listener, warnings);
    const LadderRequest ladder{
        problem,
        prepared.workload,
        prepared.inputs,
        print(wanted.layout) + (is_found(segments.form) ? fmt::format(" as {}", name(segments.form)) : ""),
        std::move(plans),
        peers,
        core(session).catalogue(),
        request.options,
        prepared.columns};
    auto record = climb(bench, ladder, {listener.progress, listener.measured});
    record.preparation_seconds = prepared.seconds;
    if (listener.done)
        listener.done(std::move(record));
}

/// Returns the bytes of scratch memory per element that plans need on one layout.
double scratch_of_element(Session& session, const Operator& op, const OperatorLaws& laws,
                          const SweepRequest& request, const Layout& layout)
{
    const auto features = generated_features(op, request.workload.num_features);
    const auto elements = std::max<std::int64_t>(1, kSweptElements / features);
    const auto length = std::min(counted_length(layout, elements), elements);
    const SegmentSizes sizes{elements, elements / length, elements, length, 32, features};
    auto problem = make_problem(op, request.given_as.value_or(form_of(layout.kind)),
                                request.workload.index_bits.value_or(32), laws);
    auto& backend = core(session).backend();
    problem.target = backend.target();
    std::int64_t most = 0;
    std::vector<std::string> warnings;  // not reported here, but when the plans are measured
    const Shape shape{elements, sizes.num_segments, length, features};
    for (const auto& plan : ladder_plans(session, problem, shape, laws, request.plans, warnings))
        if (plan.objection.empty())
            most = std::max(
                most,
                scratch_bytes_of(emit(problem, *plan.stage, plan.configuration, core(session).catalogue()),
                                 sizes, backend.device() ? backend.device()->multiprocessors : 1));
    return static_cast<double>(most) / static_cast<double>(elements);
}

}  // namespace

double scratch_of_element(Session& session, const Operator& op, const OperatorLaws& laws,
                          const SweepRequest& request)
{
    double most = 0;
    for (const auto& layout : counted_layouts(request))
        try {
            most = std::max(most, scratch_of_element(session, op, laws, request, layout));
        } catch (const InputError&) {
            // A plan that fails here is reported when it is measured.
        }
    return most;
}

std::int64_t fitting_elements(double free_bytes, const Operator& op, const Layout& layout,
                              std::int64_t num_features, double scratch_of_element)
{
    auto elements = kSweptElements;
    while (elements > 1 && (elements * num_features > kSweptElements ||
                            most_bytes(op, layout, elements, num_features) +
                                    static_cast<double>(elements) * scratch_of_element >
                                kShareOfMemory * free_bytes))
        elements /= 2;
    return elements;
}

void require_measurable(Session& session, const Operator& op, const SweepRequest& request)
{
    require_sound_identity(core(session).laws(sample(op, request.workload)), op);
}

void bench_operator(Session& session, Bench& bench, const Operator& op, const SweepRequest& request,
                    const SweepListener& listener)
{
    auto laws = session.laws(op);
    if (depends_on_data(laws) || doubt_of_scalars(op, laws.report) != ScalarDoubt::none)
        laws = core(session).laws(sample(op, request.workload));
    for (const auto& warning : law_warnings(laws, op))
        warn(listener, {warning});
    auto& timing = *bench.timing;
    auto workload = request.workload;
    workload.takes_groups = [&](const Operator& asked, const Segments& segments) {
        return core(session).takes_groups(asked, groups(view_of(segments.numbers), segments.num_segments),
                                          segments.num_elements, request.plans.chosen, nullptr, false);
    };
    Swept swept{
        session, bench, op, request, listener, std::move(laws), CaseData(timing, op, std::move(workload))};
    for (const auto& wanted : cases_of(session, request, timing, op, swept.laws)) {
        const auto named = fmt::format(
            "{} {}{}", op.name, print(wanted.layout),
            wanted.num_elements ? fmt::format(" of {} elements", element_text(*wanted.num_elements)) : "");
        const double needed = wanted.num_elements ? most_bytes(op, wanted.layout, *wanted.num_elements) : 0;
        const auto present = static_cast<double>(timing.memory_bytes());
        const bool is_swept = request.sweep != Sweep::none;
        const auto skip = [&](const std::string& why) {
            if (listener.skipped)
                listener.skipped(named, why);
        };
        if (is_swept && needed > present) {
            skip(fmt::format("it may need {:.0f} GB, and {} has {:.0f}", needed / 1e9, bench.machine().device,
                             present / 1e9));
            continue;
        }
        try {
            measure(swept, wanted);
        } catch (const Error& error) {
            if (!is_swept || error.exit_code() == 4)
                throw;
            timing.synchronize();  // throws if the device refuses further work
            skip(error.what());
        }
    }
}

}  // namespace segfold::bench
