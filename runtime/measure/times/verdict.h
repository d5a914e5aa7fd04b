#pragma once
// Decides whether a build is slower than an earlier one. Compares ratios of times, each measured within one
// run.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::regress {

/// Ratios of one case: [round][sample]. Every round allocates memory anew.
using Rounds = std::vector<std::vector<double>>;

/// A stage's time over one layout, divided by another time of the same run.
struct TimeCase {
    std::string op;  ///< the operator's name on a command line
    std::string stage;
    std::string layout;   ///< such as "whole" or "geometric:mean=32"
    std::string against;  ///< the divisor, such as "whole", "grid_reduce whole" or "read"
    std::string configuration;
    Rounds rounds;       ///< empty if the case was not measured
    std::string reason;  ///< reason why the case was not measured

    [[nodiscard]] bool same_case(const TimeCase& other) const;
};

/// The verdict on one case.
enum class Verdict : std::uint8_t { same, better, worse, ambiguous, no_baseline };

/// Returns "same", "better", "worse", "ambiguous" or "no_baseline".
[[nodiscard]] std::string_view name(Verdict verdict);

/// Limits that decide whether a difference counts.
struct TimeRule {
    /// Significance level of the U test, with Holm's correction for the number of cases.
    double level = 0.01;
    double least_effect = 0.01;  ///< smallest relative change of the median that counts
    /// Largest noise of a case. With more noise, a change of 5 % could not be recognised.
    double most_noise = 0.04;
    std::size_t fewest_rounds = 3;
    std::size_t fewest_samples = 9;  ///< fewest samples in all rounds of the build or of the baseline
    /// Number of times that a suspect case is measured again; all must agree.
    int reruns = 2;
    /// Smallest relative change that counts for a case that exceeds the cut-off and has few samples. 1 means
    /// twice the time.
    double clear_effect = 1;
};

/// The verdict on one case, with its numbers and those of the baseline.
struct TimeOutcome {
    TimeCase now;
    Verdict verdict = Verdict::no_baseline;
    double median = 0;           ///< median of the current ratios; 0 if there are none
    double baseline_median = 0;  ///< median of the baseline's ratios; 0 if there are none
    double effect = 0;           ///< median / baseline_median - 1
    /// Noise of the build or of the baseline, whichever is larger. The noise is the largest median of the
    /// rounds divided by the smallest, minus 1.
    double noise = 0;
    double p = 1;        ///< p of the U test, with Holm's correction
    std::string reason;  ///< reason why the verdict is ambiguous or the case exceeds the cut-off
};

/// Measures all rounds of one case again. Returns nothing if the case cannot be measured.
using Remeasure = std::function<Rounds(const TimeCase& of)>;

/// Judges every case of `now`.
///
/// A case is suspect if the U test, with Holm's correction, finds a difference, and if the medians differ by
/// at least `least_effect` and by more than the noise. Suspect cases are measured again, and all measurements
/// must agree. A case is ambiguous if they disagree, if it is noisy, or if it has few samples.
///
/// If a case has times in the baseline but none in `now`, it has exceeded the cut-off, and `remeasure`
/// measures it again. If it exceeds the cut-off once more, `slowly` measures it without one. The case is
/// worse if even the smallest of these ratios exceeds the baseline's median by enough to count. If there are
/// few ratios, "enough" is `clear_effect`.
[[nodiscard]] std::vector<TimeOutcome> compare_times(std::span<const TimeCase> now,
                                                     std::span<const TimeCase> baseline,
                                                     const Remeasure& remeasure, const Remeasure& slowly = {},
                                                     const TimeRule& rule = {});

}  // namespace segfold::regress
