#pragma once
// Searches a space of plans for the fastest plan. An Evaluator measures the plans.
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "runtime/measure/tune/search_space.h"
#include "runtime/session/choice/plan_measurement.h"

namespace segfold::tune {

/// A measurement of the point with index `place` in the search space.
struct Trial {
    std::size_t place = 0;
    PlanMeasurement measurement;
};

/// Returns the fastest correct trial; of two equally fast trials the earlier. Null if there is none.
const Trial* fastest(std::span<const Trial> trials);

/// Measures points.
class Evaluator {
public:
    virtual ~Evaluator() = default;
    /// Measures a point. `best` is the fastest time so far, infinity at first. A point that takes much longer
    /// may be abandoned.
    virtual PlanMeasurement evaluate(const Point& point, double best) = 0;
    /// Announces points that will probably be measured soon, so they can be compiled in the background.
    virtual void expect(std::span<const Point> points) { (void)points; }
    /// Returns the milliseconds of `rounds` runs of each point, which take turns; empty for a point that
    /// failed.
    virtual std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) = 0;
    /// Runs a point once and compares all results with the reference. Returns correct, wrong, or the failure.
    virtual PlanMeasurement validate(const Point& point) = 0;
};

/// The rule by which a search chooses points.
enum class Strategy : std::uint8_t {
    /// Every point of the stages that can still win, if the budget allows; otherwise as `elite`.
    automatic,
    everything,  ///< every point of every stage
    elite,       ///< the best points and their neighbours
    random       ///< random points, as a comparison for the others
};

struct SearchOptions {
    Strategy strategy = Strategy::automatic;
    std::size_t evaluations = std::numeric_limits<std::size_t>::max();  ///< most new measurements
    std::uint64_t seed = 7;
    /// If the best time of a stage is more than this many times the best time of all, its other points are
    /// not measured, because tuning inside a stage gains less.
    double hopeless = 4;
    /// If the best time of a stage is at most this many times the best time of all, the configurations that
    /// it prefers for longer and shorter segments are tried too, before the search inside stages.
    double close = 1.25;
    std::vector<std::size_t> seeds = {};  ///< indices of points that won earlier searches, perhaps elsewhere
    std::vector<Trial> known = {};        ///< earlier measurements, not repeated
};

/// Functions called during a search; each may be empty.
struct SearchListener {
    std::function<void(const Trial& trial)> measured;  ///< called for new trials only
    /// Called before each measurement. Returns true to end the search, for example when time is up.
    std::function<bool()> stops;
};

/// Searches for the fastest point.
///
/// First it decides between stages: it tries the start of every stage, the seeds, and the points that close
/// stages prefer for longer and shorter segments. Then it searches inside the stages that can still win.
///
/// If the evaluator is deterministic, the same seed gives the same search. Returns known trials, then new
/// ones.
///
/// Inside stages, it measures ten random points first. The candidates for each later measurement are the
/// neighbours of the five best points, twenty crosses of the twenty best points, and twenty random points.
/// The candidate with the best guess is measured. A guess is the mean logarithm of the times of the five
/// nearest trials, weighted by inverse distance; a failure counts as worse than the worst time. One
/// measurement in ten is of a random point.
std::vector<Trial> search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options,
                          const SearchListener& listener = {});

}  // namespace segfold::tune
