#pragma once
// Selects the plans that are measured together for one problem.
#include <map>
#include <string>
#include <vector>

#include "runtime/measure/bench/ladder.h"
#include "runtime/session/session.h"

namespace segfold::bench {

/// A requested stage, with values for some of its tunables.
struct AskedPlan {
    std::string stage;
    std::string label = {};  ///< distinguishes plans of one stage
    std::map<std::string, int> settings = {};
    bool is_near = false;  ///< true: take the nearest_configuration() to `settings`
};

/// Which plans of a problem are measured.
struct PlanSelection {
    /// Requests the plan that a run would take. If it asks for a reproducible plan, this is measured in
    /// addition.
    PlanRequest chosen = {};
    /// Plans to measure beside the chosen one. If empty, every stage that supports the form is measured.
    std::vector<AskedPlan> others = {};
    int first = 0;            ///< number of stages among `others` to measure, those that rank first; 0: all
    bool with_rungs = false;  ///< true: also measure stages that exist only for comparison
    bool asks_records = true;
};

/// Returns the form in which stages read a problem's segments. This is the problem's form if some stage
/// supports it, else the form to which the segments are converted.
[[nodiscard]] SegmentForm read_form(const Problem& problem, const Catalogue& catalogue);

/// Returns the plans to measure. The first is the plan that a run would take. Adds a text to `warnings` for
/// each tuning record that is ignored.
///
/// If `chosen` names a stage, returns only its plan, and throws InputError if the stage cannot run. A stage
/// of `others` that cannot run gets an objection.
[[nodiscard]] std::vector<LadderPlan> ladder_plans(Session& session, const Problem& problem,
                                                   const Shape& shape, const OperatorLaws& laws,
                                                   const PlanSelection& selection,
                                                   std::vector<std::string>& warnings);

}  // namespace segfold::bench
