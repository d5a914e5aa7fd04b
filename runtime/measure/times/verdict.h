#pragma once
// Whether a build is slower than another, as ratios of times say that were measured in one run.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::regress {

/// Ratios of one case: samples of several rounds, each of which allocates everything anew.
using Rounds = std::vector<std::vector<double>>;

/// The time of a stage over a layout, over that of an unsegmented fold in the same run.
struct TimeCase {
    std::string op;  ///< by the name that a command line has for it
    std::string stage;
    std::string layout;   ///< "whole", "geometric:mean=32"
    std::string against;  ///< its divisor: "whole", "grid_reduce whole", "read"
    std::string configuration;
    Rounds rounds;       ///< empty if it was not measured
    std::string reason;  ///< why it was not

    [[nodiscard]] bool same_case(const TimeCase& other) const;
};

/// Verdict on one case, and its reasons.
enum class Verdict : std::uint8_t { same, better, worse, ambiguous, no_baseline };

/// "same", "better", "worse", "ambiguous", "no_baseline"
[[nodiscard]] std::string_view name(Verdict verdict);

/// When a difference counts.
struct TimeRule {
    double level = 0.01;         ///< of the U test, Holm's correction over all cases included
    double least_effect = 0.01;  ///< relative change of the median
    double most_noise = 0.04;    ///< of the medians of rounds, above which a change of 5 % could not be told
    std::size_t fewest_rounds = 3;
    std::size_t fewest_samples = 9;  ///< of all rounds of one side
    int reruns = 2;                  ///< of suspects, all of which must agree
    double clear_effect = 1;         ///< of what is over the cut-off, where samples are few: twice the time
};

/// One case beside its baseline.
struct TimeOutcome {
    TimeCase now;
    Verdict verdict = Verdict::no_baseline;
    double median = 0;           ///< of now's ratios; 0 where there are none
    double baseline_median = 0;  ///< 0 where there is none
    double effect = 0;           ///< median / baseline_median - 1
    double noise = 0;    ///< largest over smallest median of a side's rounds, less 1; the noisier side
    double p = 1;        ///< of the U test, after Holm's correction
    std::string reason;  ///< of what is ambiguous, or over the cut-off
};

/// Measures one case anew, all rounds of it; none if it cannot be measured.
using Remeasure = std::function<Rounds(const TimeCase& of)>;

/// Judges every case of `now` that the baseline has.
///
/// A case is suspect where the U test rejects, after Holm's correction, and the medians differ by
/// `least_effect` and by more than the noise of either side. Suspects are measured again; all of these
/// measurements must say the same. A suspect that only some confirm is ambiguous; so is one that is noisy or
/// has few samples.
///
/// A case that the baseline has and `now` has not is over the cut-off, perhaps for once: it is measured
/// again. Where it is over the cut-off once more, `slowly` measures it without one, and it is worse where
/// even the least of these ratios is above the baseline's median by as much as counts; where they are few, by
/// `clear_effect`.
[[nodiscard]] std::vector<TimeOutcome> compare_times(std::span<const TimeCase> now,
                                                     std::span<const TimeCase> baseline,
                                                     const Remeasure& remeasure, const Remeasure& slowly = {},
                                                     const TimeRule& rule = {});

}  // namespace segfold::regress
