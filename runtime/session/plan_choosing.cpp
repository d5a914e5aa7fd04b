// Chooses the stage of a plan for its sizes. After a resize, finds the stage that a new plan would have.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "dsl/check/warnings.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/data/data_ranges.h"
#include "runtime/laws/overflow_laws.h"
#include "runtime/session/device_plan.h"
#include "runtime/session/plan_state.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// Returns the names of the laws on which a text may rely according to `before` but not according to `now`.
std::vector<std::string_view> lost_laws(const OperatorLaws& before, const OperatorLaws& now)
{
    std::vector<std::string_view> lost;
    const auto compare = [&](Law law, bool held, bool holds) {
        if (held && !holds)
            lost.push_back(name(law));
    };
    const auto has_identity = [](const OperatorLaws& laws) {
        return laws.has_sound_identity && !laws.without_identity;
    };
    compare(Law::associative, before.usable.associative, now.usable.associative);
    compare(Law::identity, has_identity(before), has_identity(now));
    compare(Law::commutative, before.usable.commutative, now.usable.commutative);
    compare(Law::idempotent, before.usable.idempotent, now.usable.idempotent);
    compare(Law::append, before.has_sound_append, now.has_sound_append);
    return lost;
}

}  // namespace

void require_stages(const PlanRequest& request, const Backend& backend)
{
    if (backend.runs_stages() || (!request.stage && request.settings.empty()))
        return;
    const auto what = request.stage ? fmt::format("stage '{}'", *request.stage)
                                    : fmt::format("setting '{}'", request.settings.begin()->first);
    throw InputError(
        fmt::format("{} chooses what a kernel does, and the back end {} runs none; leave it out, or take "
                    "another back end",
                    what, backend.name()));
}

Problem Plan::State::problem_of(const PlanSizes& of, const OperatorLaws& laws) const
{
    Problem problem = make_problem(parts->op, of.form, of.sizes.index_bits, laws);
    problem.target = parts->backend->target();
    if (of.form == SegmentForm::keys)
        problem.key_bytes = of.key_bytes;
    problem.number_type = of.number_type;
    problem.has_ends = is_on_device;
    // On the host a read past a table's end could end the process, and the check costs little.
    if (!parts->options.trusts_tables || !is_on_device)
        for (const auto& parameter : parts->op.parameters)
            if (parameter.table && !parameter.scalar)
                problem.checked_tables.push_back(parameter.name);
    return problem;
}

void Plan::State::require_scalars(std::span<const ArrayView> inputs)
{
    const auto& op = parts->op;
    if (!choice() || !is_in_doubt(scalar_doubt, op, inputs))
        return;
    ScalarValues values;
    std::vector<std::string> words;
    bool are_judged = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!op.parameters[i].scalar)
            continue;
        auto& value = values.emplace_back();
        if (inputs[i].place == Place::host) {
            value = value_at(inputs[i].type, inputs[i].data, 0);
            words.push_back(op.parameters[i].name + " = " + segfold::print(*value));
        }
        const auto number = values.size() - 1;
        const auto* known = number < judged.size() && judged[number] ? &*judged[number] : nullptr;
        are_judged = are_judged && (!value || (known != nullptr && known->bits == value->bits &&
                                               std::bit_cast<std::uint64_t>(known->real) ==
                                                   std::bit_cast<std::uint64_t>(value->real)));
    }
    if (are_judged)
        return;
    auto laws = plan_laws(laws_for_scalars(op, parts->laws.report, values, parts->assumed));
    // A plan's text relies only on laws that hold for all scalars. Other laws must not count for these
    // scalars either.
    const auto of_all = plan_laws(parts->laws);
    laws.usable.associative = laws.usable.associative && of_all.usable.associative;
    laws.usable.commutative = laws.usable.commutative && of_all.usable.commutative;
    laws.usable.idempotent = laws.usable.idempotent && of_all.usable.idempotent;
    laws.usable.assumes_associative = of_all.usable.assumes_associative;
    laws.has_sound_append = laws.has_sound_append && of_all.has_sound_append;
    if (of_all.without_identity)
        laws.without_identity = of_all.without_identity;
    const auto problem = problem_of(sizes_at_choice, laws);
    const auto unmet = parts->chooser.catalogue->unmet(*choice()->stage, problem);
    if (unmet || !laws.has_sound_identity ||
        emit(problem, *choice()->stage, choice()->emitted.configuration, *parts->chooser.catalogue).source !=
            choice()->emitted.source) {
        const auto lost = lost_laws(of_all, laws);
        throw InputError(
            fmt::format("the plan of {} relies on {} not hold with {}: {}; {} judges the scalars "
                        "of each run",
                        op.name, lost.size() > 1 ? "laws that do" : "a law that does", fmt::join(words, ", "),
                        lost.empty() ? unmet.value_or("identity") : fmt::format("{}", fmt::join(lost, ", ")),
                        parts->fold_call));
    }
    judged = std::move(values);
}

OperatorLaws Plan::State::plan_laws(OperatorLaws laws) const
{
    const auto& options = parts->options;
    laws = while_nothing_overflows(std::move(laws), parts->op);
    if (options.assumes_finite)
        laws = on_finite_data(std::move(laws), parts->op);
    if (!options.with_nan.empty() && depends_on_nan(laws))
        keep_order_of_nan(laws, options.with_nan);
    laws.knows_data = false;
    laws.unseen_data = "a fold asks its data whether they show it, and a plan knows none";
    if (!options.assumes_finite && depends_on_data(laws) && laws.has_sound_identity && !laws.assumes_identity)
        laws.without_identity =
            "the identity is neutral on finite values alone, and the plan does not know its data";
    if (options.avoids_doubt && laws.doubts_identity && !laws.without_identity)
        laws.without_identity =
            "the identity is not known to be neutral, and the plan does not know its data";
    return laws;
}

bool Plan::State::may_overflow(const PlanSizes& of) const
{
    const auto& uniform = of.sizes.uniform_length;
    const auto longest = of.form == SegmentForm::uniform ? uniform : of.sizes.num_elements;
    return !parts->options.assumes_no_overflow && longest > parts->laws.most_elements &&
           !broken_by_overflow(parts->laws, parts->op, KnownValues(), {longest, of.sizes.num_elements})
                .empty();
}

Shape Plan::State::shape_for(const PlanSizes& of) const
{
    Shape shape{
        of.sizes.num_elements,
        is_found(of.form) ? std::max<std::int64_t>(1, of.sizes.num_elements / 64) : of.sizes.num_segments,
        of.form == SegmentForm::uniform ? of.sizes.uniform_length : known_longest, of.sizes.num_features};
    if (of.form == SegmentForm::ranges && ranges && ranges->num_elements > 0) {
        shape = *ranges;
        shape.num_features = of.sizes.num_features;
        shape.longest = std::max(shape.longest, known_longest);
    }
    return shape;
}

Chosen Plan::State::choose(const PlanSizes& of) const
{
    const auto& options = parts->options;
    std::optional<ScratchRoom> room;
    if (is_on_device) {
        room = {{}, of.sizes, parts->backend->context()->info().multiprocessors, of.form};
        if (!options.scratch.allocate)  // the free memory of a caller's allocator is unknown
            room->free_bytes = [this] {
                return static_cast<std::int64_t>(parts->backend->context()->memory().free_bytes) +
                       (device ? device->scratch_bytes() : 0);
            };
    }
    Segments counted;  // has no arrays; assumes that the ranges cover each element once
    counted.form = of.form == SegmentForm::ranges ? SegmentForm::offsets : of.form;
    counted.num_elements = of.sizes.num_elements;
    counted.num_segments = of.sizes.num_segments;
    counted.has_wide_indices = of.sizes.index_bits == 64;
    auto chosen = segfold::choose(
        parts->chooser,
        {parts->op, basis->problem, shape_for(of), basis->laws, options.request,
         compulsory_traffic(parts->op, counted, of.sizes.num_features), room ? &*room : nullptr});
    std::ranges::copy(segfold::warnings(parts->op), std::inserter(chosen.warnings, chosen.warnings.begin()));
    if (may_overflow(of))
        std::ranges::move(overflow_warnings(parts->laws, parts->op, "a plan"),
                          std::back_inserter(chosen.warnings));
    return chosen;
}

Explanation Plan::State::explained() const
{
    auto all = *explanation;
    if (sizes == sizes_at_choice)
        return all;
    std::string now;
    try {
        const auto chosen = choose(sizes);
        all.rule = chosen.explanation.rule;
        all.expected = chosen.explanation.expected;
        all.nearest = chosen.explanation.nearest;
        all.traffic = chosen.explanation.traffic;
        now = chosen.plan->text() == choice()->text()
                  ? "a new plan would take the same"
                  : fmt::format("a new plan would take {}", chosen.explanation.taken);
    } catch (const Error& error) {
        now = fmt::format("there would be no new plan: {}", error.what());
    }
    const auto text = [](const PlanSizes& of) {
        return is_found(of.form) ? count_text(of.sizes.num_elements, "element")
                                 : fmt::format("{} in {}", count_text(of.sizes.num_elements, "element"),
                                               count_text(of.sizes.num_segments, "segment"));
    };
    all.resized = fmt::format("to {}; the stage was chosen for {} and stays; {}", text(sizes),
                              text(sizes_at_choice), now);
    return all;
}

}  // namespace segfold
