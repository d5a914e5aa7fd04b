#pragma once
// Bounds on integers that grow with the number of elements of a fold.
#include <array>
#include <cstdint>
#include <span>

#include "dsl/evaluation/interval.h"

namespace segfold {

/// The bound `constant + earlier * j + later * k` for an earlier operand of j elements and a later one of k.
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

/// Extreme pairs (j, k) of element counts, with j in combine's earlier operand and k in the later one. An
/// affine bound that holds for these pairs holds for all pairs between them.
struct Corners {
    std::array<std::pair<std::int64_t, std::int64_t>, 3> corners;
    std::size_t count = 0;

    [[nodiscard]] auto all() const { return std::span(corners).first(count); }
};

/// A set of integers: all integers between two bounds, and a few isolated values. Empty if there are no
/// bounds and no isolated values.
///
/// An isolated value usually stands for "none", as highest(i64) does in a least index. A sum with this value
/// may overflow even if sums of other values do not.
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

    /// range() returns the smallest interval that contains the values between the bounds. all() includes the
    /// isolated values, too.
    [[nodiscard]] Interval range(const Corners& corners) const;
    [[nodiscard]] Interval all(const Corners& corners) const;

    /// Adds the values between two bounds.
    void take(const Affine& low, const Affine& high);
    /// Adds one isolated value.
    void take_point(WideInteger value);
    void take(const GrowingValues& other);

    /// Turns the bounds into an isolated value if they enclose a single number near an end of `type`.
    void set_apart(Type type);

    /// Returns a set that contains all values inside `kept`, and perhaps more.
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
