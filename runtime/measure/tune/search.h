#pragma once
// Searching a space of plans for the fastest, whoever measures them.
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "runtime/measure/tune/search_space.h"
#include "runtime/session/choice/evaluation.h"

namespace segfold::tune {

/// An evaluation with the place of its point.
struct Trial {
    std::size_t place = 0;
    Evaluation evaluation;
};

/// The fastest correct trial, the earlier of two equal ones; null without any.
const Trial* fastest(std::span<const Trial> trials);

/// Measures points.
class Evaluator {
public:
    virtual ~Evaluator() = default;
    /// `best` is the fastest time so far, infinity before the first; a point that takes much longer may be
    /// abandoned.
    virtual Evaluation evaluate(const Point& point, double best) = 0;
    /// Points that are likely to come soon, so that they can be compiled meanwhile.
    virtual void expect(std::span<const Point> points) { (void)points; }
    /// Milliseconds of `rounds` runs of each point, by turns; empty for a point that failed.
    virtual std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) = 0;
    /// Runs a point once and compares all of its results with the reference: correct, wrong, or the failure.
    virtual Evaluation validate(const Point& point) = 0;
};

/// How points are chosen.
enum class Strategy : std::uint8_t {
    automatic,  ///< every point where the budget allows, else seeds, then elite and neighbours
    everything,
    elite,
    random  ///< for comparison
};

struct SearchOptions {
    Strategy strategy = Strategy::automatic;
    std::size_t evaluations = std::numeric_limits<std::size_t>::max();  ///< known trials do not count
    std::uint64_t seed = 7;
    /// Stages whose start takes more than so many times the best one's are searched no further: tuning
    /// inside a stage is worth less.
    double hopeless = 4;
    /// Stages within so many times the best one's time are also tried as they would be for longer and shorter
    /// segments, before anything else is.
    double close = 1.25;
    std::vector<std::size_t> seeds = {};  ///< winners of earlier searches, other shapes, other GPUs
    std::vector<Trial> known = {};        ///< measured before; never asked for again
};

/// Calls of a search on its way; each may be empty.
struct SearchListener {
    std::function<void(const Trial& trial)> measured;  ///< new ones only
    std::function<bool()> stops;  ///< asked before each evaluation: out of time, or interrupted
};

/// Looks for the fastest point: first the thresholds between strategies, which are the start of every stage,
/// the seeds, and what close stages prefer for longer and shorter segments; then inside the stages that can
/// still win.
///
/// Deterministic by seed for an evaluator that is. Returns known and new trials, in that order.
///
/// Inside stages: ten random points, then each time the best guess among the neighbours of the five best,
/// crosses of the twenty best and twenty random points. A guess is the mean of the five nearest trials'
/// logarithms, weighted by inverse distance; failures count as the worst time and a half. One pick in ten is
/// random.
std::vector<Trial> search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options,
                          const SearchListener& listener = {});

}  // namespace segfold::tune
