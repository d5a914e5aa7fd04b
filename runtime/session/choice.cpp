#include "runtime/session/choice.h"

#include <algorithm>

#include "dsl/error.h"
#include "runtime/judge/table_check.h"

namespace segfold {
namespace {

/// The counter-examples to the laws that the stage needs.
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

}  // namespace

Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws)
{
    auto folded = laws.without_identity ? without_identity(op) : op;
    if (!laws.has_sound_append)
        folded.append.reset();
    // Elements are mapped by their segments, which must be known then: flags and keys become offsets.
    Problem problem(std::move(folded), op.map ? converted_form(form) : form, index_bits);
    problem.laws = laws.usable;
    return problem;
}

Problem make_problem(const Workload& workload, const OperatorLaws& laws)
{
    const auto& segments = workload.segments;
    auto problem = make_problem(workload.op, segments.form, segments.index_bits(), laws);
    if (segments.form == SegmentForm::keys)
        problem.key_bytes = static_cast<int>(size_bytes(segments.item_keys.type()));
    problem.checked_tables = unproved_tables(workload);
    return problem;
}

PlanChoice choose_plan(const PlanRequest& request, const Problem& problem, const Shape& shape,
                       const OperatorLaws& laws, const Catalogue& catalogue, const tune::Point* tuned)
{
    require_sound_identity(laws, problem.op);
    if (request.is_reproducible && (request.stage || !request.settings.empty()))
        throw InputError(
            "a stage and settings change the order of combination, which a reproducible plan fixes; "
            "leave them out");
    if (tuned != nullptr && request.is_open()) {
        const auto& stage = catalogue.stage(tuned->stage);
        require(stage, problem, laws.report, catalogue);
        return {&stage, false, emit(problem, stage, tuned->configuration, catalogue, request.numbers), true};
    }
    const auto& stage =
        request.stage ? catalogue.stage(*request.stage) : catalogue.rule_of_thumb(problem, shape);
    require(stage, problem, laws.report, catalogue);
    const auto configuration = configure(stage, request.settings, plan_facts(problem, shape));
    PlanChoice choice{&stage, request.stage.has_value(),
                      emit(problem, stage, configuration, catalogue, request.numbers)};
    choice.emitted.is_reproducible = request.is_reproducible;
    return choice;
}

}  // namespace segfold
