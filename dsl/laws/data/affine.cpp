#include "dsl/laws/data/affine.h"

#include <algorithm>

namespace segfold {

Interval GrowingValues::range(const Corners& corners) const
{
    Interval all;
    for (const auto& [j, k] : corners.all())
        if (has_range_)
            all = hull(all, {low_.at(j, k), std::max(low_.at(j, k), high_.at(j, k))});
    return all;
}

Interval GrowingValues::all(const Corners& corners) const
{
    auto all = range(corners);
    for (const auto point : points())
        all = hull(all, {point, point});
    return all;
}

void GrowingValues::take(const Affine& low, const Affine& high)
{
    if (!has_range_) {
        has_range_ = true;
        low_ = low;
        high_ = high;
        return;
    }
    low_ = {std::min(low_.constant, low.constant), std::min(low_.earlier, low.earlier),
            std::min(low_.later, low.later)};
    high_ = {std::max(high_.constant, high.constant), std::max(high_.earlier, high.earlier),
             std::max(high_.later, high.later)};
}

void GrowingValues::take_point(WideInteger value)
{
    if (std::ranges::find(points(), value) != points().end())
        return;
    if (num_points_ == kMostPoints)
        take({value, 0, 0}, {value, 0, 0});
    else
        points_[num_points_++] = value;
}

void GrowingValues::take(const GrowingValues& other)
{
    if (other.has_range_)
        take(other.low_, other.high_);
    for (const auto point : other.points())
        take_point(point);
}

void GrowingValues::set_apart(Type type)
{
    if (!has_range_ || !(low_ == high_) || !low_.is_constant() || size_bytes(type) < 2)
        return;
    const auto all = values_of(type);
    const auto eighth = (all.high - all.low) / 8;
    if (low_.constant < all.high - eighth && (all.low == 0 || low_.constant > all.low + eighth))
        return;
    const auto value = low_.constant;
    const auto others = *this;
    *this = {};
    take_point(value);
    for (const auto point : others.points())
        take_point(point);
}

GrowingValues GrowingValues::meet(const Interval& kept, const Corners& corners) const
{
    GrowingValues left;
    for (const auto point : points())
        if (kept.contains(point))
            left.take_point(point);
    if (!has_range_)
        return left;
    const auto whole = range(corners);
    if (whole.is_within(kept))
        left.take(low_, high_);
    else if (const auto both = segfold::meet(whole, kept); !both.is_empty())
        left.take(low_.is_constant() || kept.low > whole.low ? Affine{both.low} : low_,
                  high_.is_constant() || kept.high < whole.high ? Affine{both.high} : high_);
    return left;
}

GrowingValues GrowingValues::without(WideInteger value) const
{
    GrowingValues left;
    for (const auto point : points())
        if (point != value)
            left.take_point(point);
    if (!has_range_)
        return left;
    auto low = low_, high = high_;
    if (low.is_constant() && low.constant == value)
        ++low.constant;
    if (high.is_constant() && high.constant == value)
        --high.constant;
    if (!low.is_constant() || !high.is_constant() || low.constant <= high.constant)
        left.take(low, high);
    return left;
}

}  // namespace segfold
