#include "runtime/support/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace segfold {

UTest mann_whitney(std::span<const double> first, std::span<const double> second)
{
    std::vector<std::pair<double, bool>> all;  // each value, with true if it is of the first sample
    for (const double value : first)
        all.emplace_back(value, true);
    for (const double value : second)
        all.emplace_back(value, false);
    std::ranges::sort(all);
    const auto m = static_cast<double>(first.size());
    const auto n = static_cast<double>(second.size());
    const double total = m + n;
    double rank_sum = 0, ties = 0;
    for (std::size_t begin = 0; begin < all.size();) {
        std::size_t end = begin;
        double of_first = 0;
        for (; end < all.size() && all[end].first == all[begin].first; ++end)
            of_first += all[end].second;
        const auto count = static_cast<double>(end - begin);
        rank_sum += of_first * (static_cast<double>(begin) + (count + 1) / 2);
        ties += count * count * count - count;
        begin = end;
    }
    UTest test;
    test.u = rank_sum - m * (m + 1) / 2;
    if (m == 0 || n == 0)
        return test;
    const double variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)));
    if (variance <= 0)
        return test;
    const double distance = std::max(0.0, std::abs(test.u - m * n / 2) - 0.5);
    test.p = std::erfc(distance / std::sqrt(variance) / std::numbers::sqrt2);
    return test;
}

std::vector<double> holm(std::span<const double> p)
{
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
    std::vector<double> adjusted(p.size());
    double largest = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
        const auto tests_left = static_cast<double>(p.size() - place);
        largest = std::max(largest, std::min(1.0, tests_left * p[order[place]]));
        adjusted[order[place]] = largest;
    }
    return adjusted;
}

}  // namespace segfold
