#pragma once
// What is said of a sample of times.
#include <span>
#include <vector>

namespace segfold {

/// The quartiles of a sample.
struct Quartiles {
    double low = 0;
    double median = 0;
    double high = 0;
};

/// Quartiles by linear interpolation between the sorted values; throws InternalError for an empty sample.
[[nodiscard]] Quartiles quartiles(std::vector<double> values);

/// The n-th root of the product of n positive values; 0 for none.
[[nodiscard]] double geometric_mean(std::span<const double> values);

}  // namespace segfold
