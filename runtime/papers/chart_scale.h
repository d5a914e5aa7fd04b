#pragma once
// From values to places on an axis.
#include <vector>

namespace segfold::papers {

/// An axis of positive values between round borders: from zero, or logarithmic where they differ too much.
class Scale {
public:
    /// For values from `least` to `greatest`, both above 0, on an axis from place `first` to place `last`.
    Scale(double least, double greatest, double first, double last);

    [[nodiscard]] bool is_logarithmic() const { return is_logarithmic_; }
    [[nodiscard]] double place(double value) const;
    /// The round values that lines are drawn for, ascending.
    [[nodiscard]] std::vector<double> ticks() const;

private:
    bool is_logarithmic_;
    double low_, high_;
    double first_, last_;
};

}  // namespace segfold::papers
