#pragma once
// Which plans of a problem are measured beside each other.
#include <map>
#include <string>
#include <vector>

#include "runtime/measure/bench/ladder.h"
#include "runtime/session/session.h"

namespace segfold::bench {

/// A stage and some of its tunables.
struct AskedPlan {
    std::string stage;
    std::string label = {};  ///< tells it from other plans of its stage
    std::map<std::string, int> settings = {};
};

/// The plans to measure for a problem.
struct PlanSelection {
    PlanRequest chosen = {};  ///< of the plan that a run takes; if reproducible, that is measured beside it
    std::vector<AskedPlan> others = {};  ///< these alone beside it; empty: every stage that takes the form
    bool with_rungs = false;             ///< stages that are there for the ladder, too
    bool asks_records = true;
};

/// The form in which stages read a problem's segments: its own if one takes it, else the form made of it
/// before they run.
[[nodiscard]] SegmentForm read_form(const Problem& problem, const Catalogue& catalogue);

/// The plans of a ladder, the one that a run takes first. `warnings` receives complaints of the records.
///
/// A stage that is asked for in `chosen` is alone. Throws InputError for a chosen stage that cannot serve;
/// one of `others` that cannot has an objection.
[[nodiscard]] std::vector<LadderPlan> ladder_plans(Session& session, const Problem& problem,
                                                   const Shape& shape, const OperatorLaws& laws,
                                                   const PlanSelection& selection,
                                                   std::vector<std::string>& warnings);

}  // namespace segfold::bench
