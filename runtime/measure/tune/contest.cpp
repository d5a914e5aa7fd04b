#include "runtime/measure/tune/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "dsl/stopped.h"
#include "runtime/support/rank_tests.h"
#include "runtime/support/statistics.h"

namespace segfold::tune {
namespace {

constexpr double kLevel = 0.01;
constexpr double kLeastGainOfTuning = 0.01;
// Tolerance for screening times. In screening, tunables are passed as arguments at launch, which slows some
// stages down more than others.
constexpr double kDoubt = 1.1;
constexpr std::size_t kOfEachStage = 2;

/// True if `rival` is faster than `incumbent` by enough to justify a change.
bool gains(const Finalist& rival, const Finalist& incumbent)
{
    return rival.measurement.milliseconds < incumbent.measurement.milliseconds * (1 - kLeastGainOfTuning);
}

/// True if `rival` is certainly faster than `incumbent`. When other work disturbs the runs, medians may
/// differ by chance and pass the U test, but then the quartiles overlap.
bool beats(const Finalist& rival, const Finalist& incumbent)
{
    const auto& ours = rival.measurement.samples;
    const auto& theirs = incumbent.measurement.samples;
    return gains(rival, incumbent) && mann_whitney(ours, theirs).p < kLevel &&
           quartiles(ours).high < quartiles(theirs).low;
}

/// Returns the median and the quartiles as text, such as "0.795 ms (0.79 - 0.8)".
std::string runs_text(const Finalist& finalist)
{
    const auto runs = quartiles(finalist.measurement.samples);
    return fmt::format("{:.4g} ms ({:.4g} - {:.4g})", runs.median, runs.low, runs.high);
}

/// Explains why the incumbent stays although another plan has a smaller median.
std::string uncertain_text(const Point& rival, const Finalist& runs, const Finalist& incumbent)
{
    return fmt::format(
        "the plan that runs today stays: the runs differ too much to tell whether {} is faster, {} "
        "beside {}, medians and quartiles; a machine with less other work may tell",
        print(rival), runs_text(runs), runs_text(incumbent));
}

/// Returns the indices of the points to rank: the `count` fastest ones, the two best of each stage if they
/// are within kDoubt of the fastest, and the incumbent.
std::vector<std::size_t> best_places(const SearchSpace& space, const std::vector<Trial>& trials,
                                     std::size_t count, std::optional<std::size_t> incumbent)
{
    std::vector<std::pair<double, std::size_t>> right;
    for (const auto& [place, measurement] : trials)
        if (measurement.outcome == MeasurementOutcome::correct)
            right.emplace_back(measurement.milliseconds, place);
    std::ranges::sort(right);
    std::vector<std::size_t> places;
    std::map<std::string_view, std::size_t> taken;
    for (const auto& [time, place] : right) {
        const bool is_fast = places.size() < count;
        auto& of_stage = taken[space[place].stage];
        if (is_fast || (time <= right.front().first * kDoubt && of_stage < kOfEachStage)) {
            places.push_back(place);
            ++of_stage;
        } else if (place == incumbent) {
            places.push_back(place);
        }
    }
    return places;
}

}  // namespace

Contest tune(const SearchSpace& space, Evaluator& evaluator, std::optional<std::size_t> incumbent,
             const ContestOptions& options, const ContestListener& listener)
{
    Contest contest;
    contest.trials = search(space, evaluator, options.search, listener.search);
    if (listener.is_interrupted && listener.is_interrupted()) {
        contest.reason = "interrupted; what was measured is kept, and the next run goes on from there";
        return contest;
    }
    const auto places = best_places(space, contest.trials, options.finalists, incumbent);
    if (places.empty()) {
        contest.reason = "no plan that was measured gives right results";
        return contest;
    }
    if (listener.ranking)
        listener.ranking(places.size());
    std::vector<Point> points;
    for (const auto place : places)
        points.push_back(space[place]);
    const auto samples = evaluator.rank(points, options.rounds);
    throw_if_stopped();
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (samples[i].empty())
            continue;
        contest.finalists.push_back(
            {places[i], {MeasurementOutcome::correct, quartiles(samples[i]).median, samples[i]}});
        if (listener.ranked)
            listener.ranked(contest.finalists.back());
    }
    std::ranges::stable_sort(contest.finalists, {},
                             [](const Finalist& one) { return one.measurement.milliseconds; });
    auto standing = contest.finalists;
    std::string dropped;
    while (!standing.empty()) {
        const auto fastest = standing.begin();
        const auto today = std::ranges::find_if(
            standing, [&](const Finalist& one) { return incumbent && one.place == *incumbent; });
        auto winner = fastest;
        if (today != standing.end())
            winner = std::find_if(fastest, today, [&](const Finalist& one) { return beats(one, *today); });
        const bool stays = winner == today && today != fastest;
        const auto verdict = evaluator.validate(space[winner->place]);
        throw_if_stopped();
        if (verdict.outcome == MeasurementOutcome::correct) {
            contest.winner = winner->place;
            contest.unjudged = verdict.reason;
            contest.reason = dropped;
            contest.is_certain = !stays || !gains(*fastest, *today);
            if (!contest.is_certain)
                contest.reason += uncertain_text(space[fastest->place], *fastest, *today);
            else if (stays)
                contest.reason += "the plan that runs today stays: none is faster beyond doubt by 1 %";
            else if (today == winner)
                contest.reason += "the plan that runs today is the fastest";
            else if (today != standing.end())
                contest.reason +=
                    fmt::format("{:.2f} times as fast as the plan that runs today",
                                today->measurement.milliseconds / winner->measurement.milliseconds);
            else
                contest.reason += fmt::format("the fastest of {} finalists", contest.finalists.size());
            return contest;
        }
        dropped += fmt::format("{} was dropped: {} ({}); ", print(space[winner->place]),
                               name(verdict.outcome), verdict.reason.substr(0, verdict.reason.find('\n')));
        standing.erase(winner);
    }
    contest.reason = dropped + "no finalist gives right results";
    return contest;
}

}  // namespace segfold::tune
