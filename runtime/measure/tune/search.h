#pragma once
// Searches a space of plans for the fastest one, with an Evaluator that measures plans.
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "runtime/measure/tune/search_space.h"
#include "runtime/session/choice/plan_measurement.h"

namespace segfold::tune {

/// A measured point. `place` is its index in the search space.
struct Trial {
    std::size_t place = 0;
    PlanMeasurement measurement;
};

/// Returns the fastest correct trial; the earlier of two equally fast ones. Null if there is none.
const Trial* fastest(std::span<const Trial> trials);

/// Measures points of a search space.
class Evaluator {
public:
    virtual ~Evaluator() = default;
    /// Measures a point. `best` is the fastest time so far, in milliseconds; infinity at first. A point that
    /// takes much longer may be abandoned.
    virtual PlanMeasurement evaluate(const Point& point, double best) = 0;
    /// Announces points that will probably be measured soon, so that they can be compiled in the background.
    virtual void expect(std::span<const Point> points) { (void)points; }
    /// Times `rounds` runs of each point; the points take turns. Returns the milliseconds of the runs, and an
    /// empty list for a point that failed.
    virtual std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) = 0;
    /// Runs a point once and compares all results with the reference. Returns the outcome: correct, wrong, or
    /// the failure.
    virtual PlanMeasurement validate(const Point& point) = 0;
};

/// How a search chooses points.
enum class Strategy : std::uint8_t {
    /// All points of the stages that can still win, if the budget suffices; otherwise like `elite`.
    automatic,
    everything,  ///< all points of all stages
    elite,       ///< the best points so far and their neighbours
    random       ///< random points, as a baseline for the other strategies
};

struct SearchOptions {
    Strategy strategy = Strategy::automatic;
    /// Largest number of new measurements.
    std::size_t evaluations = std::numeric_limits<std::size_t>::max();
    std::uint64_t seed = 7;
    /// A stage whose best time is more than this many times the overall best is not tuned, because tuning
    /// gains less than this.
    double hopeless = 4;
    /// A stage is close if its best time is at most this many times the overall best. For close stages, the
    /// configurations that suit longer and shorter segments are tried before the search within stages.
    double close = 1.25;
    /// Indices of points that won earlier searches, possibly for other problems.
    std::vector<std::size_t> seeds = {};
    std::vector<Trial> known = {};  ///< earlier measurements, which are not repeated
};

/// Functions called during a search; each may be empty.
struct SearchListener {
    std::function<void(const Trial& trial)> measured;  ///< called for new trials only
    /// Called before each measurement. If it returns true, for example because time is up, the search ends.
    std::function<bool()> stops;
};

/// Searches for the fastest point. Returns the known trials, then the new ones.
///
/// First compares stages. Tries the start of every stage, the seeds, and, for close stages, the points that
/// suit longer and shorter segments. Then searches within the stages that can still win.
///
/// Within stages, measures ten random points first. Then the candidates for each measurement are the
/// neighbours of the five best points, twenty combinations of the twenty best points, and twenty random
/// points. The candidate with the lowest predicted time is measured. The prediction is the mean logarithm of
/// the times of the five nearest trials, weighted by inverse distance; a failure counts as worse than the
/// worst time. One measurement in ten is of a random point.
///
/// If the evaluator is deterministic, equal seeds give equal searches.
std::vector<Trial> search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options,
                          const SearchListener& listener = {});

}  // namespace segfold::tune
