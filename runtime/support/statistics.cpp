#include "runtime/support/statistics.h"

#include <algorithm>
#include <cmath>

#include "dsl/error.h"

namespace segfold {

Quartiles quartiles(std::vector<double> values)
{
    if (values.empty())
        throw InternalError("the quartiles of no values");
    std::ranges::sort(values);
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const auto above = std::min(below + 1, values.size() - 1);
        return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
    };
    return {at(0.25), at(0.5), at(0.75)};
}

double geometric_mean(std::span<const double> values)
{
    if (values.empty())
        return 0;
    double sum = 0;
    for (const double value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace segfold
