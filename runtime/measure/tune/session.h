#pragma once
// Runs a whole tuning: screens plans, ranks the best, validates the winner.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/tune/search.h"

namespace segfold::tune {

struct SessionOptions {
    SearchOptions search;
    /// The fastest plans, ranked in turn. Of each stage, up to two plans that come close are added.
    std::size_t finalists = 8;
    int rounds = 21;
};

/// A finalist with its runs.
struct Finalist {
    std::size_t place = 0;
    Evaluation evaluation;  ///< from the ranking
};

struct Session {
    std::vector<Trial> trials;          ///< of the screening, after the known ones
    std::vector<Finalist> finalists;    ///< the fastest first
    std::optional<std::size_t> winner;  ///< index of a point; nothing if no plan gives right results
    std::string reason;                 ///< why it won, in one sentence without its final dot
    /// False if the current plan stays only because runs vary too much to show that another is faster.
    bool is_certain = true;
    /// how many segments of the winner's results cannot be judged; empty if all can
    std::string unjudged = {};
};

struct SessionListener {
    SearchListener search;
    std::function<void(const Finalist& finalist)> ranked;
    /// called before ranking, with the number of finalists
    std::function<void(std::size_t finalists)> ranking;
    std::function<bool()> is_interrupted;  ///< if true, nothing is ranked
};

/// Searches, then ranks the best plans and the incumbent in turn, and validates the winner.
///
/// The incumbent is the plan that runs today. It stays unless another is faster by 1 % and by a U test at
/// 0.01, and the quartiles of their runs do not overlap. A winner with wrong results is dropped, and the next
/// one is taken.
Session tune(const SearchSpace& space, Evaluator& evaluator, std::optional<std::size_t> incumbent,
             const SessionOptions& options, const SessionListener& listener = {});

}  // namespace segfold::tune
