#pragma once
// Maps values to places on an axis.
#include <vector>

namespace segfold::papers {

/// An axis of positive values between round limits. It is linear from zero, or logarithmic if the values
/// differ too much.
class Scale {
public:
    /// Makes an axis from place `first` to place `last` for values from `least` to `greatest`, both above 0.
    Scale(double least, double greatest, double first, double last);

    [[nodiscard]] bool is_logarithmic() const { return is_logarithmic_; }
    [[nodiscard]] double place(double value) const;
    /// The round values at which grid lines are drawn, ascending.
    [[nodiscard]] std::vector<double> ticks() const;

private:
    bool is_logarithmic_;
    double low_, high_;
    double first_, last_;
};

}  // namespace segfold::papers
