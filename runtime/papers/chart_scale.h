#pragma once
// Converts values to places on an axis.
#include <string>
#include <vector>

namespace segfold::papers {

/// An axis of positive values between round limits. It begins at zero, or is logarithmic if the values differ
/// too much.
class Scale {
public:
    /// For values from `least` to `greatest`, both above 0. The axis goes from place `first` to place `last`.
    Scale(double least, double greatest, double first, double last);

    [[nodiscard]] bool is_logarithmic() const { return is_logarithmic_; }
    [[nodiscard]] double place(double value) const;
    /// Returns the round values that get a grid line, ascending.
    [[nodiscard]] std::vector<double> ticks() const;

private:
    bool is_logarithmic_;
    double low_, high_;
    double first_, last_;
};

}  // namespace segfold::papers
