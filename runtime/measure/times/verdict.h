#pragma once
// Decides whether a build is slower than an earlier one, from ratios of times that each build measured in one
// run.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::regress {

/// Ratios of one case: several rounds with several samples each. Every round allocates everything anew.
using Rounds = std::vector<std::vector<double>>;

/// A stage's time over a layout, divided by the time of an unsegmented fold in the same run.
struct TimeCase {
    std::string op;  ///< the operator's name on a command line
    std::string stage;
    std::string layout;   ///< "whole", "geometric:mean=32"
    std::string against;  ///< the divisor: "whole", "grid_reduce whole", "read"
    std::string configuration;
    Rounds rounds;       ///< empty if the case was not measured
    std::string reason;  ///< why the case was not measured

    [[nodiscard]] bool same_case(const TimeCase& other) const;
};

/// Verdict on one case.
enum class Verdict : std::uint8_t { same, better, worse, ambiguous, no_baseline };

/// Returns "same", "better", "worse", "ambiguous" or "no_baseline".
[[nodiscard]] std::string_view name(Verdict verdict);

/// Limits that decide when a difference counts.
struct TimeRule {
    double level = 0.01;         ///< significance level of the U test, after Holm's correction over all cases
    double least_effect = 0.01;  ///< least relative change of the median
    /// Largest noise of the medians of rounds. With more noise, a change of 5 % could not be recognised.
    double most_noise = 0.04;
    std::size_t fewest_rounds = 3;
    std::size_t fewest_samples = 9;  ///< fewest samples in all rounds of one side
    int reruns = 2;                  ///< further measurements of a suspect case; all must agree
    /// Least relative change that counts for a case over the cut-off, which has few samples. 1 means twice
    /// the time.
    double clear_effect = 1;
};

/// One case and its baseline.
struct TimeOutcome {
    TimeCase now;
    Verdict verdict = Verdict::no_baseline;
    double median = 0;           ///< median of the current ratios; 0 if there are none
    double baseline_median = 0;  ///< median of the baseline's ratios; 0 if there are none
    double effect = 0;           ///< median / baseline_median - 1
    /// Largest / smallest median of a side's rounds, minus 1, for the noisier side.
    double noise = 0;
    double p = 1;        ///< p of the U test, after Holm's correction
    std::string reason;  ///< why the verdict is ambiguous or the case over the cut-off
};

/// Measures all rounds of one case again; returns nothing if it cannot be measured.
using Remeasure = std::function<Rounds(const TimeCase& of)>;

/// Judges every case of `now` that the baseline has.
///
/// A case is suspect if the U test rejects equality after Holm's correction and the medians differ by at
/// least `least_effect` and by more than the noise of either side. Suspects are measured again, and all
/// measurements must agree. A case is ambiguous if they disagree, or if it is noisy or has few samples.
///
/// A case with times in the baseline but none in `now` was over the cut-off, perhaps only this once, so it is
/// measured again. If it is over the cut-off once more, `slowly` measures it without a cut-off. The case is
/// worse if even the least of these ratios exceeds the baseline's median by enough to count; if there are few
/// ratios, by `clear_effect`.
[[nodiscard]] std::vector<TimeOutcome> compare_times(std::span<const TimeCase> now,
                                                     std::span<const TimeCase> baseline,
                                                     const Remeasure& remeasure, const Remeasure& slowly = {},
                                                     const TimeRule& rule = {});

}  // namespace segfold::regress
