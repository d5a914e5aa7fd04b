#pragma once
// Summarises samples of times.
#include <span>
#include <vector>

namespace segfold {

/// The quartiles of a sample.
struct Quartiles {
    double low = 0;
    double median = 0;
    double high = 0;
};

/// Returns quartiles by linear interpolation between the sorted values. Throws InternalError for an empty
/// sample.
[[nodiscard]] Quartiles quartiles(std::vector<double> values);

/// Returns the n-th root of the product of n positive values; 0 if there are no values.
[[nodiscard]] double geometric_mean(std::span<const double> values);

}  // namespace segfold
