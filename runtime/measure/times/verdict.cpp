#include "runtime/measure/times/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/support/rank_tests.h"
#include "runtime/support/statistics.h"

namespace segfold::regress {
namespace {

std::vector<double> pooled(const Rounds& rounds)
{
    std::vector<double> all;
    for (const auto& round : rounds)
        all.insert(all.end(), round.begin(), round.end());
    return all;
}

/// Returns the largest median of the rounds divided by the smallest, minus 1. This is the noise between
/// allocations.
double noise_of(const Rounds& rounds)
{
    double least = 0, most = 0;
    for (const auto& round : rounds) {
        const double median = quartiles(round).median;
        least = least == 0 ? median : std::min(least, median);
        most = std::max(most, median);
    }
    return least > 0 ? most / least - 1 : 0;
}

/// Compares the current rounds of a case with the baseline's rounds.
struct TimeDifference {
    double median = 0, baseline_median = 0, effect = 0, noise = 0, p = 1;

    TimeDifference(const Rounds& now, const Rounds& baseline)
    {
        const auto samples = pooled(now), before = pooled(baseline);
        median = quartiles(samples).median;
        baseline_median = quartiles(before).median;
        effect = median / baseline_median - 1;
        noise = std::max(noise_of(now), noise_of(baseline));
        p = mann_whitney(samples, before).p;
    }

    /// True if the change is large enough to count, regardless of the U test.
    [[nodiscard]] bool is_large(const TimeRule& rule) const
    {
        return std::abs(effect) >= std::max(rule.least_effect, noise);
    }
};

bool is_thin(const Rounds& rounds, const TimeRule& rule)
{
    return rounds.size() < rule.fewest_rounds || pooled(rounds).size() < rule.fewest_samples;
}

/// Measures a suspect case again, and judges all of its measurements together.
void confirm(TimeOutcome& outcome, const Rounds& baseline, const Remeasure& remeasure,
             const Remeasure& slowly, const TimeRule& rule)
{
    int confirmed = 0;
    for (int i = 0; i < rule.reruns; ++i) {
        auto rounds = remeasure(outcome.now);
        if (rounds.empty() && slowly)
            rounds = slowly(outcome.now);  // a case close to the cut-off may exceed it now
        if (rounds.empty())
            continue;
        const TimeDifference again(rounds, baseline);
        confirmed +=
            again.is_large(rule) && again.p < rule.level && (again.effect > 0) == (outcome.effect > 0);
    }
    if (confirmed == rule.reruns) {
        outcome.verdict = outcome.effect > 0 ? Verdict::worse : Verdict::better;
    } else if (confirmed == 0) {
        outcome.verdict = Verdict::same;
    } else {
        outcome.verdict = Verdict::ambiguous;
        outcome.reason = "only some of the measurements that repeat it confirm the change";
    }
}

/// Returns the baseline's times for the same case; null if there are none. A case that was not measured has
/// no divisor, so its divisor is not compared.
const TimeCase* earlier(const TimeCase& one, std::span<const TimeCase> baseline)
{
    const auto then = std::ranges::find_if(baseline, [&](const TimeCase& other) {
        auto alike = one;
        if (one.rounds.empty())
            alike.against = other.against;
        return !other.rounds.empty() && other.same_case(alike);
    });
    return then == baseline.end() ? nullptr : &*then;
}

/// Stores the difference between the current and the baseline's rounds in `outcome`. Returns p of the U test.
double describe(TimeOutcome& outcome, const Rounds& then)
{
    const TimeDifference difference(outcome.now.rounds, then);
    outcome.median = difference.median;
    outcome.baseline_median = difference.baseline_median;
    outcome.effect = difference.effect;
    outcome.noise = difference.noise;
    return difference.p;
}

/// Judges a case with current and baseline times. `outcome.p` must already be corrected for the number of
/// cases.
void judge(TimeOutcome& outcome, const Rounds& then, const Remeasure& remeasure, const Remeasure& slowly,
           const TimeRule& rule)
{
    outcome.now.reason.clear();
    if (is_thin(outcome.now.rounds, rule) || is_thin(then, rule)) {
        outcome.verdict = Verdict::ambiguous;
        outcome.reason = "too few samples";
    } else if (outcome.p < rule.level && TimeDifference(outcome.now.rounds, then).is_large(rule)) {
        confirm(outcome, then, remeasure, slowly, rule);
    } else if (outcome.noise > rule.most_noise) {
        outcome.verdict = Verdict::ambiguous;
        outcome.reason = "the rounds of one side are too far apart";
    } else {
        outcome.verdict = Verdict::same;
    }
}

/// Judges a case that met the cut-off in the baseline and exceeded it in two measurements now.
///
/// Compares the smallest sample, because other work on the machine may delay many samples of a slow launch,
/// but rarely all.
void judge_slow(TimeOutcome& outcome, const TimeCase& then, const Remeasure& slowly, const TimeRule& rule)
{
    auto one = outcome.now;
    one.against = then.against;
    if (slowly)
        outcome.now.rounds = slowly(one);
    outcome.verdict = Verdict::ambiguous;
    if (outcome.now.rounds.empty()) {
        outcome.baseline_median = quartiles(pooled(then.rounds)).median;
        outcome.reason = "measured then, not now: " + one.reason;
        return;
    }
    outcome.now.against = then.against;
    outcome.p = describe(outcome, then.rounds);
    const double least = std::ranges::min(pooled(outcome.now.rounds)) / outcome.baseline_median - 1;
    outcome.reason = one.reason;
    const bool is_sure =
        is_thin(outcome.now.rounds, rule) ? least >= rule.clear_effect : outcome.p < rule.level;
    if (is_sure && least >= std::max(rule.least_effect, outcome.noise))
        outcome.verdict = Verdict::worse;
    else
        outcome.reason = "over the cut-off, by times that are not all above the baseline's: " + one.reason;
}

}  // namespace

bool TimeCase::same_case(const TimeCase& other) const
{
    return op == other.op && stage == other.stage && layout == other.layout && against == other.against;
}

std::string_view name(Verdict verdict)
{
    constexpr std::array<std::string_view, 5> kNames = {"same", "better", "worse", "ambiguous",
                                                        "no_baseline"};
    return kNames[static_cast<std::size_t>(verdict)];
}

std::vector<TimeOutcome> compare_times(std::span<const TimeCase> now, std::span<const TimeCase> baseline,
                                       const Remeasure& remeasure, const Remeasure& slowly,
                                       const TimeRule& rule)
{
    std::vector<TimeOutcome> outcomes;
    std::vector<const TimeCase*> before;
    std::vector<double> p;
    for (const auto& one : now) {
        TimeOutcome outcome;
        outcome.now = one;
        const auto* then = before.emplace_back(earlier(one, baseline));
        if (then && one.rounds.empty())
            outcome.now.rounds = remeasure(one);
        p.push_back(1);
        if (!outcome.now.rounds.empty()) {
            outcome.median = quartiles(pooled(outcome.now.rounds)).median;
            if (then)
                p.back() = describe(outcome, then->rounds);
        }
        outcomes.push_back(std::move(outcome));
    }
    const auto adjusted = holm(p);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        outcomes[i].p = adjusted[i];
        if (!before[i])
            continue;
        if (outcomes[i].now.rounds.empty())
            judge_slow(outcomes[i], *before[i], slowly, rule);
        else
            judge(outcomes[i], before[i]->rounds, remeasure, slowly, rule);
    }
    return outcomes;
}

}  // namespace segfold::regress
