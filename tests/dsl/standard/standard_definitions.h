#pragma once
// The definitions of the standard operators on a whole row of numbers, which may have infinities and NaN.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace segfold::standard_definitions {

using Real = long double;  // the squares and the fourth powers of every double are in its range
using Row = std::vector<Real>;

inline constexpr Real kInf = std::numeric_limits<Real>::infinity();
inline constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// Stands for a result that a definition leaves open.
inline constexpr Real kAny = -1234567;

struct Columns {
    Row x, y;
};

/// Adds the greatest magnitudes first, so that values that cancel take no digits from the others.
inline Real sum(Row x)
{
    if (std::ranges::any_of(x, [](Real v) { return std::isnan(v); }))
        return kNan;
    std::ranges::sort(x, [](Real a, Real b) { return std::fabs(a) > std::fabs(b); });
    Real total = -0.0L;
    for (const Real v : x)
        total += v;
    return total;
}

inline Row each(const Row& x, const std::function<Real(Real)>& f)
{
    Row row;
    std::ranges::transform(x, std::back_inserter(row), f);
    return row;
}

inline Row both(const Columns& c, const std::function<Real(Real, Real)>& f)
{
    Row row;
    std::ranges::transform(c.x, c.y, std::back_inserter(row), f);
    return row;
}

inline Real mean(const Row& x) { return sum(x) / static_cast<Real>(x.size()); }
inline Real times(Real a, Real b) { return a * b; }
inline Real square(Real v) { return v * v; }
inline Real magnitude(Real v) { return std::fabs(v); }
inline Real logarithm(Real v) { return std::log(v); }

/// The mean of the given power of the differences from the mean.
inline Real moment(const Row& x, int power)
{
    const Real middle = mean(x);
    return mean(each(x, [&](Real v) { return std::pow(v - middle, power); }));
}

inline Real co_moment(const Columns& c)
{
    const Real x_mean = mean(c.x), y_mean = mean(c.y);
    return mean(both(c, [&](Real x, Real y) { return (x - x_mean) * (y - y_mean); }));
}

/// The greatest number. NaN loses against every number.
inline Real greatest(const Row& x, Real none)
{
    Real most = none;
    for (const Real v : x)
        most = std::fmax(most, v);
    return most;
}
inline Real least(const Row& x, Real none)
{
    return -greatest(each(x, [](Real v) { return -v; }), -none);
}

inline bool has_nan(const Row& x)
{
    return std::ranges::any_of(x, [](Real v) { return std::isnan(v); });
}

/// exp(v - greatest) of each value. An infinite greatest value gets NaN; if some value is NaN, all get NaN.
inline Row exponentials(const Row& x)
{
    const Real top = has_nan(x) ? kNan : greatest(x, -kInf);
    return each(x, [&](Real v) { return std::exp(v - top); });
}

inline Real log_sum_exp(const Row& x)
{
    const Real top = greatest(x, -kInf);
    return has_nan(x) ? kNan : std::isinf(top) ? top : top + std::log(sum(exponentials(x)));
}

/// The elements of softmax. If the greatest value is inf, it gets NaN, and all other values get 0.
inline Row softmax(const Row& x)
{
    Row e = exponentials(x);
    const Real total = greatest(x, -kInf) == kInf && !has_nan(x) ? 1 : sum(e);
    return each(e, [&](Real v) { return v / total; });
}

inline Real softmax_mean(const Columns& c)
{
    if (has_nan(c.x))
        return kNan;
    const Real top = greatest(c.x, -kInf);
    const Row e = each(c.x, [&](Real v) { return v == top ? 1 : std::exp(v - top); });
    return sum(both({e, c.y}, times)) / sum(e);
}

inline Real max_subarray(const Row& x)
{
    Real best = 0;
    for (auto begin = x.begin(); begin != x.end(); ++begin)
        for (auto end = begin + 1; end <= x.end(); ++end)
            best = std::fmax(best, sum({begin, end}));
    return best;
}

inline Real place_of(const Row& x, Real value, bool last)
{
    Real place = last ? -1 : 9223372036854775807.0L;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] == value && (last || place > static_cast<Real>(x.size())))
            place = static_cast<Real>(i);
    return place;
}

inline Row entropy(const Row& w)
{
    const Real total = sum(w);
    return {least(w, kInf) < 0 ? kNan
            : total == 0
                ? 0
                : sum(each(w, [&](Real v) { return v == 0 ? 0 : -v / total * std::log(v / total); }))};
}

inline Row top(Row x, std::size_t count, bool are_greatest)
{
    std::erase_if(x, [](Real v) { return std::isnan(v); });
    x.resize(std::max(x.size(), count), are_greatest ? -kInf : kInf);
    std::ranges::sort(x);
    if (are_greatest)
        std::ranges::reverse(x);
    x.resize(count);
    return x;
}

inline Row counts(const Row& x, const std::function<bool(Real)>& f)
{
    return {static_cast<Real>(std::ranges::count_if(x, f))};
}

inline Row moments(const Row& x)
{
    const Real variance = moment(x, 2);
    return {mean(x), variance, moment(x, 3) / std::pow(variance, 1.5L),
            moment(x, 4) / (variance * variance) - 3};
}

struct Meaning {
    std::function<Row(const Columns&)> results;
    /// Number of leading results that are right even if intermediate values leave the type's range. The
    /// others may then be inf or NaN, as the operators' texts say.
    std::size_t whole = 0;
    /// True if the text says that the result is NaN if an infinity decides it.
    bool is_nan_of_infinities = false;
    /// True if great values that cancel leave a rounding error of their own size.
    bool cancels = false;
};

/// The results of each operator, then its outputs, one after the other.
inline const std::map<std::string, Meaning> kMeanings = {
    {"sum", {[](const auto& c) { return Row{sum(c.x)}; }, 0, false, true}},
    {"wide_sum", {[](const auto& c) { return Row{sum(c.x)}; }, 0, false, true}},
    {"kahan_sum", {[](const auto& c) { return Row{sum(c.x)}; }}},
    {"binned_sum", {[](const auto& c) { return Row{sum(c.x)}; }, 1, false, true}},
    {"double_double_sum", {[](const auto& c) {
         return Row{sum(c.x), kAny};
     }}},
    {"sum_of_magnitudes", {[](const auto& c) { return Row{sum(each(c.x, magnitude))}; }, 1}},
    {"sum_of_squares", {[](const auto& c) { return Row{sum(each(c.x, square))}; }, 1}},
    {"dot", {[](const auto& c) { return Row{sum(both(c, times))}; }}},
    {"manhattan_distance",
     {[](const auto& c) { return Row{sum(both(c, [](Real a, Real b) { return std::fabs(a - b); }))}; }, 1}},
    {"euclidean_distance", {[](const auto& c) {
         return Row{std::sqrt(sum(both(c, [](Real a, Real b) { return square(a - b); })))};
     }}},
    {"chebyshev_distance",
     {[](const auto& c) {
          return Row{greatest(both(c, [](Real a, Real b) { return std::fabs(a - b); }), 0)};
      },
      1}},
    {"max_norm", {[](const auto& c) { return Row{greatest(each(c.x, magnitude), 0)}; }, 1}},
    {"max", {[](const auto& c) { return Row{greatest(c.x, -kInf)}; }, 1}},
    {"min", {[](const auto& c) { return Row{least(c.x, kInf)}; }, 1}},
    {"range",
     {[](const auto& c) {
          return Row{least(c.x, kInf), greatest(c.x, -kInf)};
      },
      2}},
    {"bounding_box",
     {[](const auto& c) {
          return Row{least(c.x, kInf), least(c.y, kInf), greatest(c.x, -kInf), greatest(c.y, -kInf)};
      },
      4}},
    {"argmax",
     {[](const auto& c) {
          return Row{greatest(c.x, -kInf), place_of(c.x, greatest(c.x, -kInf), false)};
      },
      2}},
    {"argmin",
     {[](const auto& c) {
          return Row{least(c.x, kInf), place_of(c.x, least(c.x, kInf), false)};
      },
      2}},
    {"argmax_last",
     {[](const auto& c) {
          return Row{greatest(c.x, -kInf), place_of(c.x, greatest(c.x, -kInf), true)};
      },
      2}},
    {"argmin_last",
     {[](const auto& c) {
          return Row{least(c.x, kInf), place_of(c.x, least(c.x, kInf), true)};
      },
      2}},
    {"top_four", {[](const auto& c) { return top(c.x, 4, true); }, 4}},
    {"top_eight", {[](const auto& c) { return top(c.x, 8, true); }, 8}},
    {"bottom_four", {[](const auto& c) { return top(c.x, 4, false); }, 4}},
    {"count_missing", {[](const auto& c) { return counts(c.x, [](Real v) { return std::isnan(v); }); }, 1}},
    {"count_nonzero", {[](const auto& c) { return counts(c.x, [](Real v) { return v != 0; }); }, 1}},
    {"mean", {[](const auto& c) { return Row{mean(c.x)}; }, 0, false, true}},
    {"mean_magnitude", {[](const auto& c) { return Row{mean(each(c.x, magnitude))}; }}},
    {"root_mean_square", {[](const auto& c) { return Row{std::sqrt(mean(each(c.x, square)))}; }}},
    {"geometric_mean", {[](const auto& c) { return Row{std::exp(mean(each(c.x, logarithm)))}; }, 1}},
    {"harmonic_mean",
     {[](const auto& c) { return Row{1 / mean(each(c.x, [](Real v) { return 1 / v; }))}; }, 1}},
    {"centroid",
     {[](const auto& c) {
          return Row{mean(c.x), mean(c.y)};
      },
      0, false, true}},
    {"weighted_mean", {[](const auto& c) {
         const Real weight = sum(c.y);
         return Row{std::isfinite(weight) && weight != 0 ? sum(both(c, times)) / weight : kNan};
     }}},
    {"mean_variance",
     {[](const auto& c) {
          return Row{mean(c.x), moment(c.x, 2)};
      },
      2, false, true}},
    {"welford_mean_variance",
     {[](const auto& c) {
          return Row{mean(c.x), moment(c.x, 2)};
      },
      0, true}},
    {"moments", {[](const auto& c) { return moments(c.x); }, 2, false, true}},
    {"covariance", {[](const auto& c) { return Row{co_moment(c)}; }}},
    {"correlation",
     {[](const auto& c) { return Row{co_moment(c) / std::sqrt(moment(c.x, 2) * moment(c.y, 2))}; }}},
    {"linear_regression", {[](const auto& c) {
         const Real slope = co_moment(c) / moment(c.x, 2);
         return Row{slope, mean(c.y) - slope * mean(c.x)};
     }}},
    {"cosine", {[](const auto& c) {
         return Row{sum(both(c, times)) / std::sqrt(sum(each(c.x, square)) * sum(each(c.y, square)))};
     }}},
    {"norm", {[](const auto& c) { return Row{std::sqrt(sum(each(c.x, square)))}; }, 1}},
    {"entropy", {[](const auto& c) { return entropy(c.x); }}},
    {"log_sum_exp", {[](const auto& c) { return Row{log_sum_exp(c.x)}; }, 1}},
    {"softmax_mean", {[](const auto& c) { return Row{softmax_mean(c)}; }}},
    {"max_subarray", {[](const auto& c) { return Row{max_subarray(c.x)}; }, 1}},
    {"centre",
     {[](const auto& c) { return each(c.x, [middle = mean(c.x)](Real v) { return v - middle; }); }, 0, false,
      true}},
    {"standardise",
     {[](const auto& c) {
          const Real middle = mean(c.x), spread = std::sqrt(moment(c.x, 2));
          Row row = {middle, spread == 0 ? 0 : 1 / spread};
          for (const Real v : c.x)
              row.push_back(spread == 0 ? 0 : (v - middle) / spread);
          return row;
      },
      1, false, true}},
    {"share",
     {[](const auto& c) { return each(c.x, [all = sum(c.x)](Real v) { return v / all; }); }, 0, true}},
    {"normalise",
     {[](const auto& c) {
          const Real length = std::sqrt(sum(each(c.x, square)));
          return each(c.x, [&](Real v) { return length == 0 ? 0 : v / length; });
      },
      0, true}},
    {"rescale",
     {[](const auto& c) {
          const Real low = least(c.x, kInf), high = greatest(c.x, -kInf);
          return each(c.x, [&](Real v) {
              return std::isnan(v) ? kNan : low == high ? 0 : (v - low) / (high - low);
          });
      },
      3}},
    {"softmax", {[](const auto& c) { return softmax(c.x); }, 3}},
    {"log_softmax",
     {[](const auto& c) {
          const Real top = has_nan(c.x) ? kNan : greatest(c.x, -kInf);
          const Real rest = std::isinf(top) ? 0 : std::log(sum(exponentials(c.x)));
          return each(c.x, [&](Real v) { return v - top - rest; });
      },
      3}},
};

}  // namespace segfold::standard_definitions
