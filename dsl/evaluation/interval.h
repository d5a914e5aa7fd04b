#pragma once
// Ranges of integers. Computes the range of an operation from the ranges of its operands.
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// An integer of 128 bits. It holds the exact sum of any two integers of the language, and nearly always
/// their product.
__extension__ typedef __int128 WideInteger;

/// The integers from `low` to `high`, both included; no integer if `low` is greater than `high`. A bool is 0
/// or 1.
struct Interval {
    WideInteger low = 0;
    WideInteger high = -1;

    [[nodiscard]] bool is_empty() const { return low > high; }
    [[nodiscard]] bool contains(WideInteger value) const { return low <= value && value <= high; }
    /// True if `other` contains every integer of this interval.
    [[nodiscard]] bool is_within(const Interval& other) const
    {
        return is_empty() || (other.low <= low && high <= other.high);
    }
    bool operator==(const Interval&) const = default;
};

/// Returns all values of an integer type or of bool.
[[nodiscard]] Interval values_of(Type type);

/// Returns the smallest interval that contains both arguments.
[[nodiscard]] Interval hull(const Interval& left, const Interval& right);

/// Returns the integers that lie in both intervals.
[[nodiscard]] Interval meet(const Interval& left, const Interval& right);

/// Returns the range of the integers of `exact` after they wrap in `type`. If `type` is bool, every integer
/// except 0 becomes 1.
[[nodiscard]] Interval wrapped(Type type, const Interval& exact);

/// Returns the range of `left SYMBOL right` if both operands have type `type`. SYMBOL is an arithmetic or
/// bitwise operation, a shift or a comparison.
///
/// The interval contains every possible value, and may contain others.
[[nodiscard]] Interval binary_values(std::string_view symbol, Type type, const Interval& left,
                                     const Interval& right);

/// Returns the range of `SYMBOL argument`.
[[nodiscard]] Interval unary_values(std::string_view symbol, Type type, const Interval& argument);

/// Returns the range of min, max, abs, popcount or clz of integers. Only min and max use `right`.
[[nodiscard]] Interval function_values(std::string_view function, Type type, const Interval& left,
                                       const Interval& right);

}  // namespace segfold
