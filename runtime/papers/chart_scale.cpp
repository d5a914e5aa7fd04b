#include "runtime/papers/chart_scale.h"

#include <cmath>

namespace segfold::papers {
namespace {

constexpr double kMostForLinear = 20;  ///< largest / smallest value up to which the axis is linear
constexpr double kRoom = 1.25;         ///< a logarithmic axis begins below the smallest value / kRoom
constexpr int kTicks = 6;
constexpr double kRounding = 1e-9;

/// Returns the round number (1, 2 or 5 times a power of ten) with this index. Index 0 is 1, index 3 is 10.
double round_number(int index)
{
    constexpr double kSteps[] = {1, 2, 5};
    const int decade = static_cast<int>(std::floor(index / 3.0));
    return kSteps[index - 3 * decade] * std::pow(10, decade);
}

/// Returns the index of the first round number that is at least `value`.
int round_index(double value)
{
    int index = 3 * static_cast<int>(std::floor(std::log10(value)));
    while (round_number(index) < value * (1 - kRounding))
        ++index;
    return index;
}

}  // namespace

Scale::Scale(double least, double greatest, double first, double last)
    : is_logarithmic_(greatest > kMostForLinear * least), first_(first), last_(last)
{
    if (is_logarithmic_) {
        low_ = round_number(round_index(least / kRoom) - 1);
        high_ = round_number(round_index(greatest));
    } else {
        const double step = round_number(round_index(greatest / kTicks));
        low_ = 0;
        high_ = step * std::ceil(greatest / step * (1 - kRounding));
    }
}

double Scale::place(double value) const
{
    const double share =
        is_logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return first_ + share * (last_ - first_);
}

std::vector<double> Scale::ticks() const
{
    std::vector<double> all;
    if (!is_logarithmic_) {
        const double step = round_number(round_index(high_ * (1 - kRounding) / kTicks));
        for (int i = 0; i * step <= high_ * (1 + kRounding); ++i)
            all.push_back(i * step);
        return all;
    }
    const int first = round_index(low_), last = round_index(high_);
    for (int i = first; i <= last; ++i)
        // If the axis spans many powers of ten, only powers of ten get ticks.
        if (last - first <= 2 * kTicks || i % 3 == 0)
            all.push_back(round_number(i));
    return all;
}

}  // namespace segfold::papers
