#include "runtime/measure/bench/plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"

namespace segfold::bench {

SegmentForm read_form(const Problem& problem, const Catalogue& catalogue)
{
    const bool finds = std::ranges::any_of(catalogue.stages(), [&](const Stage& stage) {
        return served_form(stage, problem.form) == problem.form;
    });
    return finds ? problem.form : converted_form(problem.form);
}

std::vector<LadderPlan> ladder_plans(Session& session, const Problem& problem, const Shape& shape,
                                     const OperatorLaws& laws, const PlanSelection& selection,
                                     std::vector<std::string>& warnings)
{
    const auto& catalogue = core(session).catalogue();
    auto all = core(session).choose(problem, shape, laws, selection.chosen,
                                    selection.asks_records ? "" : "no record is to be asked");
    warnings.insert(warnings.end(), all.explanation.lookup.ignored.begin(),
                    all.explanation.lookup.ignored.end());
    const auto& chosen = *all.plan;
    std::vector<LadderPlan> plans = {{chosen.stage.get(), chosen.emitted.configuration, true, ""}};
    if (selection.chosen.is_reproducible)
        plans.push_back({chosen.stage.get(), chosen.emitted.configuration, false, "", true});
    const auto facts = plan_facts(problem, shape);
    auto ranked = catalogue.ranked(facts, problem);
    if (selection.first > 0 && ranked.size() > static_cast<std::size_t>(selection.first))
        ranked.resize(static_cast<std::size_t>(selection.first));
    for (const auto& asked : selection.others) {
        const auto& stage = catalogue.stage(asked.stage);
        if (selection.first > 0 && std::ranges::find(ranked, &stage, &RankedStage::stage) == ranked.end())
            continue;
        LadderPlan plan{&stage, {}, false, catalogue.unmet(stage, problem).value_or(""), false, asked.label};
        try {
            const auto near = asked.is_near && plan.objection.empty()
                                  ? nearest_configuration(stage, asked.settings, {}, facts)
                                  : std::nullopt;
            plan.configuration = near ? *near : configure(stage, asked.settings, facts);
        } catch (const InputError& error) {  // another workload of the sweep may allow these settings
            plan.objection = error.what();
        }
        plans.push_back(std::move(plan));
    }
    if (chosen.is_asked || !selection.others.empty())
        return plans;
    const auto form = read_form(problem, catalogue);
    for (const auto& stage : catalogue.stages()) {
        if (served_form(stage, problem.form) == form && &stage != chosen.stage.get() &&
            (!stage.is_rung || selection.with_rungs)) {
            // If the stage cannot run, it may have no valid configuration either.
            const auto unmet = catalogue.unmet(stage, problem);
            plans.push_back({&stage, unmet ? Configuration() : default_configuration(stage, facts), false,
                             unmet.value_or("")});
        }
    }
    return plans;
}

}  // namespace segfold::bench
