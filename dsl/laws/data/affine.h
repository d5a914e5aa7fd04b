#pragma once
// Integers that grow with the elements of a fold: bounds of the values of an expression of combine.
#include <array>
#include <cstdint>
#include <span>

#include "dsl/evaluation/interval.h"

namespace segfold {

/// `constant + earlier * j + later * k`, where the earlier operand holds j elements and the later one k.
struct Affine {
    WideInteger constant = 0, earlier = 0, later = 0;

    [[nodiscard]] WideInteger at(std::int64_t j, std::int64_t k) const
    {
        return constant + earlier * j + later * k;
    }
    [[nodiscard]] bool is_constant() const { return earlier == 0 && later == 0; }
    friend Affine operator+(const Affine& x, const Affine& y)
    {
        return {x.constant + y.constant, x.earlier + y.earlier, x.later + y.later};
    }
    friend Affine operator-(const Affine& x, const Affine& y)
    {
        return {x.constant - y.constant, x.earlier - y.earlier, x.later - y.later};
    }
    bool operator==(const Affine&) const = default;
};

/// The operands' numbers of elements at the corners of all that can be: a bound that holds there holds
/// everywhere.
struct Corners {
    std::array<std::pair<std::int64_t, std::int64_t>, 3> corners;
    std::size_t count = 0;

    [[nodiscard]] auto all() const { return std::span(corners).first(count); }
};

/// The integers between two bounds, and some far from all others; either may be missing.
///
/// Values far from the others are those that stand for "none", as highest(i64) does for a least index: sums
/// with one overflow where those of the others do not.
class GrowingValues {
public:
    static constexpr std::size_t kMostPoints = 3;

    GrowingValues() = default;
    explicit GrowingValues(const Interval& values)
    {
        if (!values.is_empty())
            take({values.low, 0, 0}, {values.high, 0, 0});
    }
    GrowingValues(const Affine& low, const Affine& high) { take(low, high); }

    [[nodiscard]] bool is_empty() const { return !has_range_ && num_points_ == 0; }
    [[nodiscard]] bool has_range() const { return has_range_; }
    [[nodiscard]] const Affine& low() const { return low_; }
    [[nodiscard]] const Affine& high() const { return high_; }
    [[nodiscard]] std::span<const WideInteger> points() const
    {
        return std::span(points_).first(num_points_);
    }

    /// The least interval around the range, or around all values.
    [[nodiscard]] Interval range(const Corners& corners) const;
    [[nodiscard]] Interval all(const Corners& corners) const;

    /// Adds the integers between two bounds.
    void take(const Affine& low, const Affine& high);
    /// Adds one value far from the others.
    void take_point(WideInteger value);
    void take(const GrowingValues& other);

    /// Takes single values far from the middle of `type` out of the range.
    void set_apart(Type type);

    /// The values that are inside of `kept`, as far as that is known.
    [[nodiscard]] GrowingValues meet(const Interval& kept, const Corners& corners) const;
    [[nodiscard]] GrowingValues without(WideInteger value) const;

    bool operator==(const GrowingValues&) const = default;

private:
    bool has_range_ = false;
    Affine low_, high_;
    std::array<WideInteger, kMostPoints> points_ = {};
    std::size_t num_points_ = 0;
};

}  // namespace segfold
