#pragma once
// Draws lengths that follow a power law.
#include <cmath>
#include <cstdint>

#include <boost/random/uniform_01.hpp>

namespace segfold {

/// Draws k from 1 to `largest` with a probability proportional to k^-exponent, in constant time.
///
/// Source: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996.
class ZipfDistribution {
public:
    ZipfDistribution(double exponent, std::int64_t largest)
        : exponent_(exponent),
          largest_(static_cast<double>(largest)),
          area_begin_(area(1.5) - 1.0),
          area_end_(area(largest_ + 0.5)),
          shortcut_(2.0 - inverse_area(area(2.5) - height(2.0)))
    {}

    template <class Generator>
    std::int64_t operator()(Generator& generator) const
    {
        boost::random::uniform_01<double> uniform;
        while (true) {
            const double place = area_end_ + uniform(generator) * (area_begin_ - area_end_);
            const double x = inverse_area(place);
            const double k = std::fmin(std::fmax(std::floor(x + 0.5), 1.0), largest_);
            if (k - x <= shortcut_ || place >= area(k + 0.5) - height(k))
                return static_cast<std::int64_t>(k);
        }
    }

private:
    [[nodiscard]] double height(double x) const { return std::exp(-exponent_ * std::log(x)); }

    /// Returns the integral of `height` at x, up to a constant: (x^(1-s) - 1) / (1 - s), or log x if s is 1.
    [[nodiscard]] double area(double x) const
    {
        const double log_x = std::log(x), power = (1.0 - exponent_) * log_x;
        return std::fabs(power) < 1e-12 ? log_x : std::expm1(power) / power * log_x;
    }

    [[nodiscard]] double inverse_area(double place) const
    {
        const double t = std::fmax(place * (1.0 - exponent_), -1.0);
        return std::exp(std::fabs(t) < 1e-12 ? place : std::log1p(t) / t * place);
    }

    double exponent_;
    double largest_;
    double area_begin_;
    double area_end_;
    double shortcut_;
};

}  // namespace segfold
