#pragma once
// A whole tuning: screening, ranking the best plans, validating the winner.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/tune/search.h"

namespace segfold::tune {

struct ContestOptions {
    SearchOptions search;
    /// Number of fastest plans to rank. The two best plans of each stage are ranked too if they take at
    /// most 10 % longer than the fastest plan.
    std::size_t finalists = 8;
    int rounds = 21;
};

/// A ranked plan with its runs.
struct Finalist {
    std::size_t place = 0;
    PlanMeasurement measurement;  ///< measured in the ranking
};

struct Contest {
    std::vector<Trial> trials;          ///< trials of the screening, known ones included
    std::vector<Finalist> finalists;    ///< fastest first
    std::optional<std::size_t> winner;  ///< index in the search space; empty if no plan is right
    std::string reason;                 ///< reason why this plan won: one sentence without its final dot
    /// False if the incumbent stays only because its runs vary too much to prove another plan faster.
    bool is_certain = true;
    /// Text with the number of segments of the winner's results that cannot be judged; empty if all can be
    /// judged.
    std::string unjudged = {};
};

struct ContestListener {
    SearchListener search;
    std::function<void(const Finalist& finalist)> ranked;
    std::function<void(std::size_t finalists)> ranking;  ///< called before ranking, with the number of plans
    std::function<bool()> is_interrupted;                ///< if it returns true, nothing is ranked
};

/// Searches, ranks the best plans in turns with the incumbent, and validates the winner.
///
/// The incumbent is the plan that a run takes today. It stays unless a plan is faster by 1 % and by a U test
/// at 0.01, with quartiles that do not overlap the incumbent's. If the results of a winner are wrong, the
/// next plan replaces it.
Contest tune(const SearchSpace& space, Evaluator& evaluator, std::optional<std::size_t> incumbent,
             const ContestOptions& options, const ContestListener& listener = {});

}  // namespace segfold::tune
