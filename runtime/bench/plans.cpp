#include "runtime/bench/plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/session/choice/choice.h"

namespace segfold::bench {

std::vector<LadderPlan> ladder_plans(Session& session, const Problem& problem, const Shape& shape,
                                     const OperatorLaws& laws, const PlanSelection& selection,
                                     std::vector<std::string>& warnings)
{
    const auto& catalogue = session.catalogue();
    auto all = session.choose(problem, shape, laws, selection.chosen,
                              selection.asks_records ? "" : "no record is to be asked");
    warnings.insert(warnings.end(), all.lookup.ignored.begin(), all.lookup.ignored.end());
    const auto& chosen = *all.plan;
    if (served_form(*chosen.stage, problem.form) != problem.form)
        warnings.push_back(
            fmt::format("{} folds by offsets, which are made of the {} before anything is timed; its "
                        "share counts the {} all the same",
                        chosen.stage->name, name(problem.form), name(problem.form)));
    std::vector<LadderPlan> plans = {{chosen.stage, chosen.emitted.configuration, true, ""}};
    if (selection.chosen.is_reproducible)
        plans.push_back({chosen.stage, chosen.emitted.configuration, false, "", true});
    for (const auto& asked : selection.others) {
        const auto& stage = catalogue.stage(asked.stage);
        LadderPlan plan{&stage, {}, false, catalogue.unmet(stage, problem).value_or(""), false, asked.label};
        try {
            plan.configuration = configure(stage, asked.settings, plan_facts(problem, shape));
        } catch (const InputError& error) {  // in a sweep another workload may allow it
            plan.objection = error.what();
        }
        plans.push_back(std::move(plan));
    }
    if (chosen.is_asked || !selection.others.empty())
        return plans;
    // Where no stage finds segments itself, those that fold by offsets.
    const bool finds = std::ranges::any_of(catalogue.stages(), [&](const Stage& stage) {
        return served_form(stage, problem.form) == problem.form;
    });
    const auto form = finds ? problem.form : converted_form(problem.form);
    for (const auto& stage : catalogue.stages()) {
        if (served_form(stage, problem.form) == form && &stage != chosen.stage &&
            (!stage.is_rung || selection.with_rungs))
            plans.push_back({&stage, default_configuration(stage, plan_facts(problem, shape)), false,
                             catalogue.unmet(stage, problem).value_or("")});
    }
    return plans;
}

}  // namespace segfold::bench
