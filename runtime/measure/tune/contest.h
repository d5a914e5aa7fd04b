#pragma once
// A whole tuning: screening, ranking of the best, validation of the winner.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/tune/search.h"

namespace segfold::tune {

struct ContestOptions {
    SearchOptions search;
    std::size_t finalists = 8;  ///< the fastest, ranked by turns; of each stage two that are close join them
    int rounds = 21;
};

/// A finalist with its runs.
struct Finalist {
    std::size_t place = 0;
    PlanMeasurement measurement;  ///< of the ranking
};

struct Contest {
    std::vector<Trial> trials;          ///< of the screening, known ones included
    std::vector<Finalist> finalists;    ///< the fastest first
    std::optional<std::size_t> winner;  ///< a place; nothing if no plan gives right results
    std::string reason;                 ///< why that one, one sentence without its end
    /// False where the plan that runs today stays because runs differ too much to tell that another is
    /// faster.
    bool is_certain = true;
    std::string unjudged = {};  ///< of the winner's results: how many segments cannot be judged, if any
};

struct ContestListener {
    SearchListener search;
    std::function<void(const Finalist& finalist)> ranked;
    std::function<void(std::size_t finalists)> ranking;  ///< about to rank so many
    std::function<bool()> is_interrupted;                ///< nothing is ranked then
};

/// Searches, then ranks the best by turns beside the incumbent and validates the winner.
///
/// The incumbent is the plan that runs today. It stays unless another is faster by 1 % and by a U test at
/// 0.01, and the quartiles of their runs lie apart. A winner whose results are wrong is dropped, and the next
/// one takes its place.
Contest tune(const SearchSpace& space, Evaluator& evaluator, std::optional<std::size_t> incumbent,
             const ContestOptions& options, const ContestListener& listener = {});

}  // namespace segfold::tune
