#pragma once
// Selects the plans of a problem that are measured together.
#include <map>
#include <string>
#include <vector>

#include "runtime/measure/bench/ladder.h"
#include "runtime/session/session.h"

namespace segfold::bench {

/// A stage and some of its tunables, as requested.
struct AskedPlan {
    std::string stage;
    std::string label = {};  ///< distinguishes plans of one stage
    std::map<std::string, int> settings = {};
    bool is_near = false;  ///< the nearest_configuration() to the settings is meant
};

/// The plans of a problem to measure.
struct PlanSelection {
    /// Request for the plan that a run would take. A reproducible plan is measured as an additional plan.
    PlanRequest chosen = {};
    /// The only plans measured beside the chosen one; if empty, every stage that takes the form.
    std::vector<AskedPlan> others = {};
    int first = 0;            ///< of `others`, only plans of so many stages that rank first; 0: all
    bool with_rungs = false;  ///< also stages that exist only for the ladder
    bool asks_records = true;
};

/// Returns the form in which stages read a problem's segments: the problem's own form if some stage takes it,
/// else the form to which it is converted.
[[nodiscard]] SegmentForm read_form(const Problem& problem, const Catalogue& catalogue);

/// Returns the plans to measure, first the plan that a run would take. Adds a text to `warnings` for each
/// tuning record that is ignored.
///
/// If `chosen` names a stage, its plan is the only one. Throws InputError if this stage cannot serve. A stage
/// of `others` that cannot serve gets an objection.
[[nodiscard]] std::vector<LadderPlan> ladder_plans(Session& session, const Problem& problem,
                                                   const Shape& shape, const OperatorLaws& laws,
                                                   const PlanSelection& selection,
                                                   std::vector<std::string>& warnings);

}  // namespace segfold::bench
