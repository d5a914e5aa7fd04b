#include "runtime/scale/overflow_watch.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace segfold {

OverflowWatch::OverflowWatch(const Operator& op, const OperatorLaws& laws, std::span<const Array> tables,
                             std::int64_t slice_elements)
    : op_(op),
      laws_(laws),
      looks_(laws.most_elements < slice_elements),
      has_warned_(laws.most_elements == std::numeric_limits<std::int64_t>::max())
{
    if (looks_)
        see_values(tables);
}

void OverflowWatch::see_values(std::span<const Array> arrays)
{
    for (auto& [name, values] : known_values(op_, arrays))
        known_[name] = hull(known_[name], values);
}

void OverflowWatch::see(const SegmentWindow& window, std::span<const Array> columns,
                        std::vector<std::string>& warnings)
{
    if (has_warned_)
        return;
    if (looks_)
        see_values(columns);
    if (window.end - window.from.open_begin <= laws_.most_elements)
        return;
    auto longest = window.end - (window.ends.empty() ? window.from.open_begin : window.ends.back());
    for (std::size_t s = 0; s < window.ends.size(); ++s)
        longest = std::max(longest, window.length(s));
    if (longest <= laws_.most_elements ||
        broken_by_overflow(laws_, op_, known_, {longest, window.end}).empty())
        return;
    has_warned_ = true;
    std::ranges::move(overflow_warnings(laws_, op_, "a stream"), std::back_inserter(warnings));
}

}  // namespace segfold
