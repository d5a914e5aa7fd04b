#pragma once
// Runs a tuning from start to end: screens plans, ranks the best ones, and validates the winner.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/tune/search.h"

namespace segfold::tune {

struct ContestOptions {
    SearchOptions search;
    /// Number of fastest plans to rank. In addition, the two best plans of each stage are ranked if they take
    /// at most 10 % longer than the fastest plan.
    std::size_t finalists = 8;
    int rounds = 21;
};

/// A ranked plan, with its measurement.
struct Finalist {
    std::size_t place = 0;
    PlanMeasurement measurement;  ///< measurement made while ranking
};

struct Contest {
    std::vector<Trial> trials;          ///< screening trials, including known ones
    std::vector<Finalist> finalists;    ///< sorted, fastest first
    std::optional<std::size_t> winner;  ///< index in the search space; empty if no plan is right
    std::string reason;                 ///< reason why this plan won: a sentence without its final dot
    /// False if the incumbent stays only because the runs vary too much to show that another plan is faster.
    bool is_certain = true;
    /// Text about the segments of the winner's results that cannot be judged; empty if all can be judged.
    std::string unjudged = {};
};

struct ContestListener {
    SearchListener search;
    std::function<void(const Finalist& finalist)> ranked;
    std::function<void(std::size_t finalists)> ranking;  ///< called with the number of plans before ranking
    /// Called after the search; if it returns true, nothing is ranked.
    std::function<bool()> is_interrupted;
};

/// Searches for the fastest plans, ranks them together with the incumbent, and validates the winner.
///
/// The incumbent is the plan that a run takes today. It stays unless another plan is faster by 1 %, by a U
/// test at level 0.01, and with quartiles that do not overlap. If the winner's results are wrong, the next
/// plan replaces it.
Contest tune(const SearchSpace& space, Evaluator& evaluator, std::optional<std::size_t> incumbent,
             const ContestOptions& options, const ContestListener& listener = {});

}  // namespace segfold::tune
