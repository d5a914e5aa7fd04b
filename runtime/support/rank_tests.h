#pragma once
// Whether two samples of times come from the same distribution.
#include <span>
#include <vector>

namespace segfold {

/// The outcome of a Mann-Whitney U test.
struct UTest {
    double u = 0;  ///< pairs in which the first sample's value is the larger one, ties counted half
    double p = 1;  ///< two-sided
};

/// Tests whether values of one sample tend to be larger than those of the other.
///
/// By the normal approximation, with the corrections for ties and continuity; fair from about eight values a
/// side on. p is 1 where a sample is empty or all values are equal. Source: Mann & Whitney 1947.
[[nodiscard]] UTest mann_whitney(std::span<const double> first, std::span<const double> second);

/// p values of several tests, adjusted so that the chance of one false alarm among all stays below the level.
///
/// Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace segfold
