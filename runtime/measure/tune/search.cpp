#include "runtime/measure/tune/search.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "dsl/stopped.h"
#include "runtime/support/random.h"

namespace segfold::tune {
namespace {

constexpr double kNoMeasurement = std::numeric_limits<double>::infinity();
constexpr double kFailurePenalty = 0.5;  // a failure counts as the largest logarithm of a time, plus this

class PlanSearcher {
public:
    PlanSearcher(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options,
                 const SearchListener& listener)
        : space_(space), evaluator_(evaluator), options_(options), listener_(listener), random_(options.seed)
    {
        for (const auto& trial : options.known)
            add(trial);
    }

    std::vector<Trial> run()
    {
        visit(space_.starts());
        visit(options_.seeds);
        visit(near_thresholds());
        const auto open = open_points();
        const bool fits = open.size() <= options_.evaluations - std::min(options_.evaluations, spent_);
        const auto strategy = options_.strategy;
        if (strategy == Strategy::everything || (strategy == Strategy::automatic && fits))
            visit(open);
        else if (strategy == Strategy::random)
            visit(shuffled(open));
        else
            climb(open);
        return std::move(trials_);
    }

private:
    void add(Trial trial)
    {
        const auto& measurement = trial.measurement;
        if (!seen_.insert(trial.place).second)
            return;
        if (measurement.milliseconds > 0)
            worst_ = std::max(worst_, std::log(measurement.milliseconds));
        if (measurement.outcome == MeasurementOutcome::correct)
            best_ = std::min(best_, measurement.milliseconds);
        trials_.push_back(std::move(trial));
    }

    bool is_over()
    {
        is_stopped_ = is_stopped_ || (listener_.stops && listener_.stops());
        return is_stopped_ || spent_ >= options_.evaluations;
    }

    /// Measures a point that has not been measured yet. Returns false if the budget is used up.
    bool evaluate(std::size_t place)
    {
        if (seen_.contains(place))
            return true;
        if (is_over())
            return false;
        ++spent_;
        Trial trial{place, evaluator_.evaluate(space_[place], best_)};
        // If the user stopped the compiler, its failure says nothing about the plan.
        throw_if_stopped();
        if (listener_.measured)
            listener_.measured(trial);
        add(std::move(trial));
        return true;
    }

    void visit(const std::vector<std::size_t>& places)
    {
        constexpr std::size_t kAhead = 16;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (i % kAhead == 0)
                expect(
                    {places.begin() + static_cast<std::ptrdiff_t>(i),
                     places.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2 * kAhead, places.size()))});
            if (!evaluate(places[i]))
                return;
        }
    }

    void expect(const std::vector<std::size_t>& places)
    {
        std::vector<Point> points;
        for (const auto place : places)
            if (!seen_.contains(place))
                points.push_back(space_[place]);
        if (!points.empty())
            evaluator_.expect(points);
    }

    /// Returns the best time of each tried stage; infinity if none of its trials is correct.
    [[nodiscard]] std::map<std::string, double, std::less<>> best_of_stages() const
    {
        std::map<std::string, double, std::less<>> best;
        for (const auto& [place, measurement] : trials_) {
            const double time = measurement.outcome == MeasurementOutcome::correct ? measurement.milliseconds
                                                                                   : kNoMeasurement;
            const auto stage = best.emplace(space_[place].stage, kNoMeasurement).first;
            stage->second = std::min(stage->second, time);
        }
        return best;
    }

    /// Returns unmeasured points of the stages that can still win, those of the most promising stage first.
    [[nodiscard]] std::vector<std::size_t> open_points() const
    {
        const auto by_stage = best_of_stages();
        std::vector<std::pair<double, std::size_t>> open;
        for (std::size_t place = 0; place < space_.size(); ++place) {
            const auto stage = by_stage.find(space_[place].stage);
            const double time = stage == by_stage.end() ? kNoMeasurement : stage->second;
            const bool can_win = options_.strategy == Strategy::everything || best_ == kNoMeasurement ||
                                 time <= options_.hopeless * best_;
            if (can_win && !seen_.contains(place))
                open.emplace_back(time, place);
        }
        std::ranges::stable_sort(open, {}, &std::pair<double, std::size_t>::first);
        std::vector<std::size_t> places;
        for (const auto& [time, place] : open)
            places.push_back(place);
        return places;
    }

    /// Returns the points of SearchSpace::across() whose stage has a best time close to the overall best.
    [[nodiscard]] std::vector<std::size_t> near_thresholds() const
    {
        const auto best = best_of_stages();
        std::vector<std::size_t> places;
        for (const auto place : space_.across()) {
            const auto stage = best.find(space_[place].stage);
            if (stage != best.end() && stage->second < kNoMeasurement &&
                stage->second <= options_.close * best_)
                places.push_back(place);
        }
        return places;
    }

    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

    std::vector<std::size_t> shuffled(std::vector<std::size_t> places)
    {
        for (std::size_t i = places.size(); i > 1; --i)
            std::swap(places[i - 1], places[below(i)]);
        return places;
    }

    /// Predicts the logarithm of a point's time from nearby trials.
    [[nodiscard]] double guess(std::size_t place) const
    {
        constexpr std::size_t kNearest = 5;
        // Pairs of the distance from `place` and the logarithm of the time, one per trial.
        std::vector<std::pair<double, double>> near;
        for (const auto& trial : trials_) {
            const auto& [outcome, milliseconds, samples, reason, compile] = trial.measurement;
            const bool has_time =
                outcome == MeasurementOutcome::correct || outcome == MeasurementOutcome::abandoned;
            near.emplace_back(space_.distance(place, trial.place), has_time && milliseconds > 0
                                                                       ? std::log(milliseconds)
                                                                       : worst_ + kFailurePenalty);
        }
        const auto count = std::min(kNearest, near.size());
        std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
        double weights = 0, sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double weight = 1 / std::max(near[i].first, 1e-6);
            weights += weight;
            sum += weight * near[i].second;
        }
        return weights > 0 ? sum / weights : 0;
    }

    /// Returns the points of the fastest correct trials, sorted.
    [[nodiscard]] std::vector<std::size_t> elite(std::size_t count) const
    {
        std::vector<std::pair<double, std::size_t>> right;
        for (const auto& trial : trials_)
            if (trial.measurement.outcome == MeasurementOutcome::correct)
                right.emplace_back(trial.measurement.milliseconds, trial.place);
        std::ranges::sort(right);
        right.resize(std::min(count, right.size()));
        std::vector<std::size_t> places;
        for (const auto& [time, place] : right)
            places.push_back(place);
        return places;
    }

    /// Returns candidates for the next measurement: neighbours of the best points, combinations of good
    /// points, and random points.
    std::vector<std::size_t> pool(const std::vector<std::size_t>& open)
    {
        constexpr std::size_t kParents = 5, kGood = 20, kCrosses = 20, kRandom = 20;
        std::set<std::size_t> all;
        for (const auto parent : elite(kParents))
            for (const auto place : space_.neighbours(parent))
                all.insert(place);
        const auto good = elite(kGood);
        for (std::size_t i = 0; i < kCrosses && !good.empty(); ++i) {
            const auto first = good[below(good.size())];
            const auto second = good[below(good.size())];
            if (const auto child = space_.cross(first, second, random_()))
                all.insert(*child);
        }
        for (std::size_t i = 0; i < kRandom; ++i)
            all.insert(open[below(open.size())]);
        std::erase_if(all, [&](std::size_t place) { return seen_.contains(place); });
        return {all.begin(), all.end()};
    }

    void climb(std::vector<std::size_t> open)
    {
        constexpr std::size_t kFirst = 10, kLikely = 8, kOneRandomIn = 10;
        auto first = shuffled(open);
        first.resize(std::min(first.size(), kFirst));
        visit(first);
        for (;;) {
            std::erase_if(open, [&](std::size_t place) { return seen_.contains(place); });
            if (open.empty() || is_over())
                return;
            std::vector<std::pair<double, std::size_t>> ranked;
            if (below(kOneRandomIn) == 0)
                ranked.emplace_back(0, open[below(open.size())]);
            else
                for (const auto place : pool(open))
                    ranked.emplace_back(guess(place), place);
            if (ranked.empty())
                ranked.emplace_back(0, open[below(open.size())]);
            std::ranges::sort(ranked);
            std::vector<std::size_t> likely;
            for (std::size_t i = 0; i < std::min(kLikely, ranked.size()); ++i)
                likely.push_back(ranked[i].second);
            expect(likely);
            if (!evaluate(likely.front()))
                return;
        }
    }

    const SearchSpace& space_;
    Evaluator& evaluator_;
    const SearchOptions& options_;
    const SearchListener& listener_;
    RandomSequence random_;
    std::vector<Trial> trials_;
    std::set<std::size_t> seen_;
    std::size_t spent_ = 0;
    bool is_stopped_ = false;
    double best_ = kNoMeasurement;
    double worst_ = 0;  ///< largest logarithm of a time so far
};

}  // namespace

const Trial* fastest(std::span<const Trial> trials)
{
    const Trial* best = nullptr;
    for (const auto& trial : trials)
        if (trial.measurement.outcome == MeasurementOutcome::correct &&
            (best == nullptr || trial.measurement.milliseconds < best->measurement.milliseconds))
            best = &trial;
    return best;
}

std::vector<Trial> search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options,
                          const SearchListener& listener)
{
    return PlanSearcher(space, evaluator, options, listener).run();
}

}  // namespace segfold::tune
