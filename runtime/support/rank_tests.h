#pragma once
// Tests whether two samples of times come from the same distribution.
#include <span>
#include <vector>

namespace segfold {

/// Outcome of a Mann-Whitney U test.
struct UTest {
    double u = 0;  ///< pairs in which the first sample's value is larger; ties count half
    double p = 1;  ///< two-sided p value
};

/// Tests whether values of one sample tend to be larger than values of the other sample.
///
/// Uses the normal approximation with corrections for ties and continuity, which is adequate from about eight
/// values in each sample. p is 1 if a sample is empty or all values are equal. Source: Mann & Whitney 1947.
[[nodiscard]] UTest mann_whitney(std::span<const double> first, std::span<const double> second);

/// Adjusts the p values of several tests, so that the probability of any false alarm stays below the level of
/// significance.
///
/// Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace segfold
